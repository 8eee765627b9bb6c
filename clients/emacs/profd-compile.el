;;; profd-compile.el --- Run, and see what it costs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; `profd-compile' runs a command that writes a profile, with
;; `compilation-mode' as ever, and shows that profile when it has ended;
;; `g' there does so again.

;;; Code:

(require 'compile)
(require 'profd)

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

(defvar-local profd-compile--file nil "What the command of this buffer writes.")
(put 'profd-compile--file 'permanent-local t)
(defvar-local profd-compile--before nil "When that was written before the command ran, if ever.")

(defun profd-compile--time (file)
  "When FILE was written, or nil."
  (file-attribute-modification-time (file-attributes file)))

(defun profd-compile--ended (buffer status)
  "The command of BUFFER ended with STATUS: show what it wrote."
  (let* ((file (buffer-local-value 'profd-compile--file buffer))
         (before (buffer-local-value 'profd-compile--before buffer))
         (now (profd-compile--time file)))
    (cond
     ((null now)
      (profd-warn (format "the command wrote no %s (%s)" (abbreviate-file-name file)
                          (string-trim status))))
     ((equal now before)
      (profd-warn (format "%s is as it was: the command did not write it (%s)"
                          (abbreviate-file-name file) (string-trim status))))
     (t (profd-open file)))))

(define-compilation-mode profd-compile-mode "Compilation"
  "What a command prints that writes a profile.
\\{profd-compile-mode-map}"
  (setq profd-compile--before (profd-compile--time profd-compile--file))
  (add-hook 'compilation-finish-functions #'profd-compile--ended nil t))

;;;###autoload
(defun profd-compile (command profile)
  "Run COMMAND in the project's folder, then show PROFILE, which it writes."
  (interactive
   (let ((default-directory (profd-root)))
     (list (read-shell-command "Command that writes a profile: "
                               (or profd-compile-command compile-command))
           (read-file-name "It writes: " nil nil nil profd-compile-profile))))
  (let* ((default-directory (profd-root))
         (name "*profd compile*"))
    (with-current-buffer (get-buffer-create name)
      (setq profd-compile--file (expand-file-name profile)))
    (compilation-start command #'profd-compile-mode (lambda (_mode) name))))

(provide 'profd-compile)
;;; profd-compile.el ends here
