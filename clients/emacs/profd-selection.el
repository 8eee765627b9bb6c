;;; profd-selection.el --- The function that all clients mean  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The browser, other editors and agents share a selection: a function
;; that is gone to here is chosen there, and what is chosen there is said
;; here and can be gone to.

;;; Code:

(require 'profd-base)
(require 'profd-rpc)
(require 'profd-session)
(require 'profd-view)

(defvar profd-selection--shared nil "What was chosen last, here or elsewhere.")

(defun profd-selection--changed (params)
  "Something was chosen, as PARAMS say."
  (setq profd-selection--shared (plist-get params :selection))
  (when-let ((name (plist-get profd-selection--shared :function)))
    (unless (equal (plist-get params :client) "Emacs")
      (profd-say (format "%s is chosen in %s; M-x profd-selection goes there" (profd-clean name)
                         (profd-clean (or (plist-get params :client) "another client")))))))

(profd-rpc-handle 'selection/changed #'profd-selection--changed)

(defun profd-selection-share (row)
  "Let the other clients choose the function of ROW."
  (when-let ((name (and profd-session-profile (plist-get row :name))))
    (profd-request :selection/set
                   (list :selection (list :profile profd-session-profile :function name))
                   (lambda (selection) (setq profd-selection--shared selection))
                   (lambda (text _code) (profd-log-add text)))))

(defun profd-selection ()
  "Go to the source of what was chosen last, in the browser or elsewhere."
  (interactive)
  (unless profd-selection--shared
    (user-error "Nothing is chosen"))
  (profd-view-visit-row (append (list :name (plist-get profd-selection--shared :function))
                                profd-selection--shared)))

(add-hook 'profd-view-visited-functions #'profd-selection-share)

(provide 'profd-selection)
;;; profd-selection.el ends here
