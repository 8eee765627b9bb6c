;;; profd-hover.el --- All that is known of a line  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The costs of the line at point for ElDoc, and all of it in a buffer,
;; with callers and callees to go to.

;;; Code:

(require 'seq)
(require 'profd-base)
(require 'profd-session)
(require 'profd-sync)
(require 'profd-view)
(require 'profd-lists)

(defcustom profd-eldoc t
  "Whether ElDoc tells the costs of the line at point."
  :type 'boolean
  :group 'profd-hints)

(defun profd-hover--params ()
  "The place of point, for the daemon."
  (list :textDocument (profd-sync-document) :position (profd-sync-here)))

(defun profd-hover--line (page)
  "PAGE in a line: the function, and its metrics."
  (concat
   (propertize (profd-clean (or (plist-get page :name) "")) 'face 'profd-name)
   " " (propertize (profd-clean (plist-get page :place)) 'face 'profd-place)
   (mapconcat
    (lambda (row)
      (profd-clean (format "  %s %s of itself, %s in all (%s)" (plist-get row :metric)
                           (plist-get row :self) (plist-get row :total) (plist-get row :share))))
    (profd-hover--rows page) "")))

(defun profd-hover--rows (page)
  "The metric of PAGE that hints show, and another one."
  (seq-take (seq-sort-by (lambda (row) (if (equal (plist-get row :metric) profd-session-metric) 0 1))
                         #'< (profd-list (plist-get page :rows)))
            2))

(defun profd-hover-eldoc (callback &rest _)
  "Give CALLBACK the costs of the line at point."
  (when (and profd-eldoc profd-session-profile (profd-rpc-live-p) (profd-sync-attached-p))
    (let ((buffer (current-buffer))
          (line (line-number-at-pos)))
      (profd-request
       :source/hover (profd-hover--params)
       (lambda (page)
         (when (and (plist-get page :name) (> (length (plist-get page :rows)) 0)
                    (eq buffer (window-buffer)) (buffer-live-p buffer)
                    (with-current-buffer buffer (= line (line-number-at-pos))))
           (funcall callback (profd-hover--line page))))
       (lambda (text _code) (profd-log-add text))))
    ;; The answer comes by CALLBACK.
    t))

(defun profd-hover--neighbour (entry)
  "A line for ENTRY, a caller or a callee."
  (propertize (format "  %8s  %s\n" (profd-clean (plist-get entry :share))
                      (profd-clean (plist-get entry :name)))
              'profd-row entry))

(defun profd-hover--text (page)
  "PAGE as text."
  (let ((width (apply #'max 6 (mapcar (lambda (row) (string-width (plist-get row :metric)))
                                      (plist-get page :rows)))))
    (concat
     (if (plist-get page :name)
         (profd-view-heading (format "%s  %s%s" (plist-get page :name) (plist-get page :place)
                                     (if (eq t (plist-get page :inlined)) "  (inlined)" "")))
       "")
     (mapconcat (lambda (note) (concat (propertize (profd-clean note) 'face 'profd-note) "\n"))
                (plist-get page :notes) "")
     (if (= 0 (length (plist-get page :rows))) ""
       (concat
        "\n" (propertize (format "%s %12s %12s %9s\n" (string-pad "" width) "self" "total" "share")
                         'face 'profd-note)
        (mapconcat
         (lambda (row)
           (concat (string-pad (profd-clean (plist-get row :metric)) width)
                   (profd-clean (format " %12s %12s %9s" (plist-get row :self) (plist-get row :total)
                                        (plist-get row :share)))
                   (if-let ((change (plist-get row :change)))
                       (concat "  " (profd-clean (plist-get change :totalChange)))
                     "")
                   "\n"))
         (plist-get page :rows) "")))
     (mapconcat (lambda (remark) (concat (propertize (profd-clean remark) 'face 'profd-note) "\n"))
                (plist-get page :remarks) "")
     (mapconcat
      (lambda (list)
        (concat "\n" (profd-view-heading (plist-get list :title))
                (mapconcat #'profd-hover--neighbour (plist-get list :entries) "")
                (if (> (plist-get list :more) 0) (format "  and %d more\n" (plist-get list :more)) "")))
      (plist-get page :lists) "")
     (if (= 0 (length (plist-get page :tips))) ""
       (concat "\n" (mapconcat (lambda (tip) (concat (profd-clean tip) "\n")) (plist-get page :tips) "")))
     "\n" (propertize (concat (profd-clean (plist-get page :foot)) "\n") 'face 'profd-note))))

(defun profd-hover ()
  "Show every metric of the line at point, its callers and callees."
  (interactive)
  (profd-session-ensure)
  (unless (profd-sync-attach)
    (user-error "No file stands here"))
  (let ((page (profd-call :source/hover (profd-hover--params))))
    (if (null page)
        (profd-say "nothing was measured on this line")
      (let ((buffer (get-buffer-create "*profd line*")))
        (with-current-buffer buffer
          (profd-text-mode)
          (profd-view-write (profd-hover--text page))
          (goto-char (point-min)))
        (display-buffer buffer '(nil (window-height . fit-window-to-buffer)))))))

(provide 'profd-hover)
;;; profd-hover.el ends here
