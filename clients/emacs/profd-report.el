;;; profd-report.el --- Where within functions the cost is  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A report to read from top to bottom, and where within one function its
;; own cost is, line by line.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'profd-base)
(require 'profd-session)
(require 'profd-heat)
(require 'profd-view)
(require 'profd-lists)
(require 'profd-sync)

(defvar-local profd-report--name nil "The function that the buffer is about.")

(defun profd-report--row (answer row)
  "Row number ROW of the report ANSWER."
  (append (list :name (let ((at row))
                        ;; A range is of the function above it.
                        (while (and (> at 0) (equal "range" (profd-view-cell answer :kind at)))
                          (setq at (1- at)))
                        (profd-view-cell answer :name at)))
          (profd-view-row-place answer row)))

(defun profd-report--text (answer)
  "The report ANSWER as text."
  (concat
   (apply #'profd-view-heading (profd-view-of answer) (profd-view-notes answer))
   "\n"
   (apply #'concat
          (seq-mapn (lambda (line row)
                      (let ((text (concat (profd-clean line) "\n")))
                        (if (< row 0)
                            (propertize text 'face 'profd-title)
                          (propertize text 'profd-row (profd-report--row answer row)))))
                    (plist-get answer :lines) (plist-get answer :lineRows)))))

(defun profd-report--ask ()
  "Ask for the report anew."
  (profd-view-ask :view/report
                  (list :profile profd-session-profile :workspaceFilters t)
                  (lambda (answer) (profd-view-write (profd-report--text answer)))))

(defun profd-report ()
  "Show functions with the running sum of their cost, to read from top to bottom."
  (interactive)
  (profd-session-ensure)
  (with-current-buffer (profd-view-buffer "*profd report*" 'profd-text-mode)
    (setq profd-view-refresh-function #'profd-report--ask)
    (profd-report--ask)))

;;;; Within a function

(defun profd-report--range (answer i)
  "The line of row I of ANSWER, ranges of a function."
  (cl-flet ((column (key) (profd-view-cell answer key i)))
    (propertize
     (concat (propertize (format "%8s" (profd-clean (column :share)))
                         'face (profd-heat-face (column :heat) 'profd-number))
             (format " %10s %8s  %-22s "
                     (profd-clean (column :selfText))
                     (profd-clean (column :runningShare))
                     (profd-clean (column :place)))
             (string-trim-right (profd-clean (column :source))) "\n")
     'profd-row (append (list :name (plist-get answer :name)) (profd-view-row-place answer i)))))

(defun profd-report--ranges-text (answer)
  "The ranges ANSWER as text."
  (concat
   (apply #'profd-view-heading
          (profd-clean (plist-get answer :name))
          (format "%s of %s: self %s (%s), total %s" (plist-get answer :metric) profd-session-name
                  (plist-get (plist-get answer :self) :text)
                  (or (plist-get (plist-get answer :self) :shareText) "n/a")
                  (plist-get (plist-get answer :functionTotal) :text))
          (profd-view-notes answer))
   "\n"
   (propertize (format "%8s %10s %8s  %-22s %s\n" "self" "" "running" "place" "source") 'face 'profd-note)
   (mapconcat (lambda (i) (profd-report--range answer i)) (profd-view-columns answer :place) "")
   (profd-view-rest answer)))

(defun profd-report--ask-within ()
  "Ask for the ranges of the function anew."
  (profd-view-ask :view/ranges
                  (list :profile profd-session-profile :function profd-report--name
                        :workspaceFilters t :source t :limit profd-rows)
                  (lambda (answer) (profd-view-write (profd-report--ranges-text answer)))))

(defun profd-within-function (name)
  "Show where within the function NAME its own cost is."
  (with-current-buffer (profd-view-buffer "*profd within*" 'profd-text-mode)
    (setq profd-view-refresh-function #'profd-report--ask-within
          profd-report--name name)
    (goto-char (point-min))
    (profd-report--ask-within)))

(defun profd-function-here ()
  "The measured function that costs most on the line of point."
  (profd-session-ensure)
  (if (derived-mode-p 'profd-text-mode 'profd-tree-mode 'profd-hotspots-mode 'profd-flame-mode)
      (plist-get (profd-view-row) :name)
    (unless (profd-sync-attach)
      (user-error "No file stands here; choose a function in M-x profd-hotspots"))
    (let ((answer (profd-call :source/functions
                              (list :profile profd-session-profile
                                    :textDocument (profd-sync-document)
                                    :line (plist-get (profd-sync-here) :line)))))
      (if (= 0 (length (plist-get answer :functions)))
          (user-error "%s" (profd-clean (plist-get answer :text)))
        (plist-get (aref (plist-get answer :functions) 0) :name)))))

(defun profd-within ()
  "Show where within the function at point its own cost is."
  (interactive)
  (profd-within-function (profd-function-here)))

(provide 'profd-report)
;;; profd-report.el ends here
