;;; profd-lsp.el --- Profd beside language servers in lsp-mode  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Registers the daemon with lsp-mode as an add-on: hovers, lenses and
;; symbols come beside those of the language server.  `profd-mode' needs
;; none of this and works beside any language server, in lsp-mode or
;; Eglot, with a connection of its own.

;;; Code:

(require 'profd-base)

(declare-function lsp-register-client "ext:lsp-mode" (client))
(declare-function make-lsp-client "ext:lsp-mode" (&rest slots))
(declare-function lsp-stdio-connection "ext:lsp-mode" (command &optional test-command))

(defcustom profd-lsp-modes '(prog-mode)
  "Major modes in which lsp-mode asks profd, too."
  :type '(repeat symbol)
  :group 'profd)

(defun profd-lsp--activate-p (file-name _mode)
  "Whether profd is asked about FILE-NAME."
  (and file-name (apply #'derived-mode-p profd-lsp-modes)))

;;;###autoload
(defun profd-lsp-register ()
  "Register profd with lsp-mode, beside the language server of a file."
  (interactive)
  (unless (require 'lsp-mode nil t)
    (user-error "The package lsp-mode is not installed"))
  (lsp-register-client
   (make-lsp-client
    :new-connection (lsp-stdio-connection (lambda () profd-command))
    :activation-fn #'profd-lsp--activate-p
    :add-on? t
    :priority -3
    :server-id 'profd)))

(provide 'profd-lsp)
;;; profd-lsp.el ends here
