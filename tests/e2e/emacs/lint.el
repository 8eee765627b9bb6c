;;; lint.el --- Compile, checkdoc and package-lint  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Exits with 1 when anything of the package is not as an archive wants it.

;;; Code:

(require 'bytecomp)
(require 'checkdoc)
(require 'info)

(let* ((client (getenv "PROFD_TEST_CLIENT"))
       (files (directory-files client t "\\`[^.].*\\.el\\'"))
       (build (make-temp-file "profd-lint" t))
       (problems 0)
       (byte-compile-dest-file-function
        (lambda (file) (expand-file-name (concat (file-name-base file) ".elc") build))))
  (push client load-path)
  (let ((byte-compile-error-on-warn t))
    (dolist (file files)
      (unless (byte-compile-file file)
        (setq problems (1+ problems)))))
  (dolist (file files)
    (let ((checkdoc-create-error-function
           (lambda (text start _end &optional _unfixable)
             (setq problems (1+ problems))
             (message "%s:%d: %s" (file-name-nondirectory file)
                      (line-number-at-pos (or start (point-min))) text)
             nil)))
      (with-current-buffer (find-file-noselect file)
        (let ((checkdoc-autofix-flag 'never)
              ;; It takes any word that can be a verb for one.
              (checkdoc-verb-check-experimental-flag nil)
              (checkdoc-spellcheck-documentation-flag nil))
          (checkdoc-current-buffer t)))))
  ;; The manual has every command behind the prefix with its key, and is what makeinfo makes of its source.
  (require 'profd)
  (let ((manual (expand-file-name "profd.texi" client))
        (built (expand-file-name "profd.info" build)))
    (with-temp-buffer
      (insert-file-contents manual)
      (map-keymap
       (lambda (key command)
         (let ((case-fold-search nil))
           (dolist (text (list (format "@findex %s\n" command) (format "@kbd{%c}" key)))
             (goto-char (point-min))
             (unless (search-forward text nil t)
               (setq problems (1+ problems))
               (message "profd.texi: %S is missing" text)))))
       profd-command-map))
    (if (not (executable-find "makeinfo"))
        (message "PARTLY NOT RUN: makeinfo is not installed; the manual is not built")
      (unless (equal "" (shell-command-to-string
                         (format "cd %s && makeinfo profd.texi -o %s 2>&1 && sed 1d profd.info >%s.old && sed 1d %s | diff %s.old -"
                                 (shell-quote-argument client) built built built built)))
        (setq problems (1+ problems))
        (message "profd.info is not what makeinfo makes of profd.texi"))))
  (with-temp-buffer
    (save-window-excursion
      (profd-help)
      (unless (equal Info-current-node "Top")
        (setq problems (1+ problems))
        (message "the manual does not open"))))
  (dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa*/*"))
    (push folder load-path))
  (if (not (require 'package-lint nil t))
      (message "PARTLY NOT RUN: package-lint is not installed; the rest is checked")
    (setq-default package-lint-main-file (expand-file-name "profd.el" client))
    (dolist (file files)
      (with-current-buffer (find-file-noselect file)
        (pcase-dolist (`(,line ,column ,type ,text) (with-no-warnings (package-lint-buffer)))
          ;; What is installable it knows from an archive, which is not asked here.
          (unless (string-match-p "uninstallable in all released" text)
            (setq problems (1+ problems))
            (message "%s:%d:%d: %s: %s" (file-name-nondirectory file) line column type text))))))
  (delete-directory build t)
  (message "%d problems in %d files" problems (length files))
  (kill-emacs (if (= 0 problems) 0 1)))

;;; lint.el ends here
