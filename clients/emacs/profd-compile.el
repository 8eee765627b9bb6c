;;; profd-compile.el --- Run, and see what it costs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; `profd-compile' runs a command that writes a profile, with
;; `compilation-mode' as ever, and shows that profile when it has ended.

;;; Code:

(require 'compile)
(require 'profd-base)
(require 'profd-session)

(defcustom profd-compile-command nil
  "The command that `profd-compile' offers; nil is that of `compile'.
For example \"go test -bench . -cpuprofile cpu.pprof\"."
  :type '(choice (const :tag "That of `compile'" nil) string)
  :group 'profd)
(put 'profd-compile-command 'safe-local-variable #'stringp)

(defcustom profd-compile-profile nil
  "The profile that the command of `profd-compile' writes.
Relative to the folder that it runs in."
  :type '(choice (const :tag "Ask" nil) string)
  :group 'profd)
(put 'profd-compile-profile 'safe-local-variable #'stringp)

(defun profd-compile--time (file)
  "When FILE was written, or nil."
  (file-attribute-modification-time (file-attributes file)))

(defun profd-compile--ended (file before status)
  "The command ended with STATUS; FILE was written BEFORE it ran, if ever."
  (let ((now (profd-compile--time file)))
    (cond
     ((null now)
      (profd-warn (format "the command wrote no %s (%s)" (abbreviate-file-name file)
                          (string-trim status))))
     ((equal now before)
      (profd-warn (format "%s is as it was: the command did not write it (%s)"
                          (abbreviate-file-name file) (string-trim status))))
     (t (profd-session-open (profd-uri file))))))

;;;###autoload
(defun profd-compile (command profile)
  "Run COMMAND in the project's folder, then show PROFILE, which it writes."
  (interactive
   (let ((default-directory (profd-root)))
     (list (read-shell-command "Command that writes a profile: "
                               (or profd-compile-command compile-command))
           (read-file-name "It writes: " nil nil nil profd-compile-profile))))
  (let* ((default-directory (profd-root))
         (file (expand-file-name profile))
         (before (profd-compile--time file))
         (buffer (compilation-start command nil (lambda (_mode) "*profd compile*"))))
    (with-current-buffer buffer
      (add-hook 'compilation-finish-functions
                (lambda (_buffer status) (profd-compile--ended file before status))
                nil t))
    buffer))

(provide 'profd-compile)
;;; profd-compile.el ends here
