;;; profd-xref.el --- Measured callers for xref  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; `profd-callers' lists who called the function at point while it was
;; measured, as xref lists references: M-, goes back.  The backend can
;; also stand behind others in `xref-backend-functions'.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'xref)
(require 'profd-base)
(require 'profd-session)
(require 'profd-report)
(require 'profd-view)

(defun profd-xref-backend ()
  "Answer for xref where a profile is shown."
  (and profd-session-profile (profd-rpc-live-p) 'profd))

(cl-defmethod xref-backend-identifier-at-point ((_backend (eql profd)))
  "The measured function at point, else the symbol."
  (condition-case nil
      (profd-function-here)
    (user-error (thing-at-point 'symbol t))))

(defun profd-xref--functions ()
  "Functions of the profile, hottest first, as a list of rows."
  (profd-list (plist-get (profd-call :view/hotspots
                                     (list :profile profd-session-profile :workspaceFilters t
                                           :sort "total" :limit 1000))
                         :places)))

(cl-defmethod xref-backend-identifier-completion-table ((_backend (eql profd)))
  "Functions of the profile, hottest first."
  (profd-xref-table))

(defun profd-xref-table ()
  "A completion table of the functions of the profile, hottest first."
  (let ((rows (profd-xref--functions)))
    (lambda (string predicate action)
      (if (eq action 'metadata)
          (list 'metadata
                '(category . profd-function)
                '(display-sort-function . identity)
                (cons 'annotation-function
                      (lambda (name)
                        (when-let ((row (seq-find (lambda (row) (equal name (plist-get row :name))) rows)))
                          (concat "  " (profd-clean (or (plist-get (plist-get row :self) :shareText) ""))
                                  " self, "
                                  (profd-clean (or (plist-get (plist-get row :total) :shareText) ""))
                                  " total")))))
        (complete-with-action action (mapcar (lambda (row) (plist-get row :name)) rows)
                              string predicate)))))

(defun profd-xref--location (file line)
  "Where LINE of FILE, as the profile says, is here."
  (let* ((candidates (and file (not (equal file ""))
                          (profd-list (plist-get (profd-call :source/resolve (list :path file))
                                                 :candidates))))
         (path (and candidates (null (cdr candidates))
                    (profd-file (plist-get (car candidates) :uri)))))
    (if (and path (file-readable-p path))
        (xref-make-file-location path (max 1 (or line 1)) 0)
      (xref-make-bogus-location
       (cond ((null file) "no source is known of it")
             ((cdr candidates) (concat (profd-clean file) " may be several files"))
             (t (concat (profd-clean file) " is not in the workspace")))))))

(defun profd-xref--items (answer)
  "The rows of ANSWER, a table, as items of xref."
  (mapcar
   (lambda (i)
     (let ((place (profd-view-row-place answer i)))
       (xref-make (format "%7s %9s  %s" (profd-clean (profd-view-cell answer :totalShare i))
                          (profd-clean (profd-view-cell answer :totalText i))
                          (profd-clean (plist-get (profd-view-row-name answer i) :label)))
                  (profd-xref--location (plist-get place :file) (plist-get place :line)))))
   (profd-view-columns answer :name)))

(cl-defmethod xref-backend-references ((_backend (eql profd)) identifier)
  "Who called IDENTIFIER while it was measured, those that cost most first."
  (let* ((filters (profd-list (plist-get (profd-call :view/hotspots
                                                     (list :profile profd-session-profile
                                                           :workspaceFilters t :limit 1))
                                         :filters)))
         (spec (profd-session-spec (concat "callers of " (profd-quote identifier) " by function")
                                   filters)))
    (profd-xref--items
     (profd-call :view/table (list :profile profd-session-profile :spec spec :sort "total"
                                   :limit profd-rows)))))

(cl-defmethod xref-backend-definitions ((_backend (eql profd)) identifier)
  "Where IDENTIFIER is written, as far as the profile knows."
  (when-let ((row (seq-find (lambda (row) (equal identifier (plist-get row :name)))
                            (profd-xref--functions))))
    (list (xref-make (profd-clean identifier)
                     (profd-xref--location (plist-get row :file) (plist-get row :line))))))

(defun profd-callers ()
  "List who called the function at point while it was measured."
  (interactive)
  (let ((name (profd-function-here))
        (xref-backend-functions (list #'profd-xref-backend)))
    (xref-find-references name)))

(provide 'profd-xref)
;;; profd-xref.el ends here
