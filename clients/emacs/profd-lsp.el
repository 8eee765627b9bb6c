;;; profd-lsp.el --- Profd beside language servers in lsp-mode  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Registers the daemon with lsp-mode as an add-on: hovers, lenses,
;; symbols, actions and call hierarchies come beside those of the language
;; server.  `profd-mode' needs none of this and works beside any language
;; server, in lsp-mode or Eglot, with a connection of its own.

;;; Code:

(require 'profd-base)
(require 'profd-session)

(declare-function lsp-register-client "ext:lsp-mode" (client))
(declare-function make-lsp-client "ext:lsp-mode" (&rest slots))
(declare-function lsp-stdio-connection "ext:lsp-mode" (command &optional test-command))
(declare-function lsp-find-workspace "ext:lsp-mode" (server-id &optional file-name))
(declare-function lsp-request "ext:lsp-mode" (method params &rest more))
(declare-function profd-callers-of "profd-tree" (name))
(declare-function profd-within-function "profd-report" (name))
(declare-function profd-hotspots "profd-lists" ())
(declare-function profd-summary "profd-lists" ())
(declare-function profd-changes "profd-record" ())
(declare-function profd-browse "profd-flame" ())
(defvar lsp--cur-workspace)
(defvar profd-mode)

(defcustom profd-lsp-modes '(prog-mode)
  "Major modes in which lsp-mode asks profd, too."
  :type '(repeat symbol)
  :group 'profd)

(defcustom profd-lsp-lenses t
  "Whether lsp-mode has a lens above each measured function."
  :type 'boolean
  :group 'profd)

(defun profd-lsp--activate-p (file-name _mode)
  "Whether profd is asked about FILE-NAME."
  (and file-name (apply #'derived-mode-p profd-lsp-modes)))

(defun profd-lsp--options ()
  "What the daemon is told as lsp-mode starts it."
  (append (profd-session-settings)
          (list :codeLens (if profd-lsp-lenses t :json-false)
                ;; `profd-mode' has them at the ends of lines.
                :inlayHints (if (bound-and-true-p profd-mode) :json-false t))
          (and profd-session-uri (list :profiles (vector profd-session-uri)))))

(defun profd-lsp--get (object key)
  "What KEY, a keyword, is in OBJECT of a message, a hash table or a plist."
  (if (hash-table-p object)
      (gethash (substring (symbol-name key) 1) object)
    (plist-get object key)))

(defun profd-lsp--act (action)
  "Do what ACTION, a command of a lens or of a code action, says.
Answers are shown as the commands of this package show them."
  (require 'profd)
  (let* ((command (profd-lsp--get action :command))
         (arguments (profd-lsp--get action :arguments))
         (first (and (> (length arguments) 0) (elt arguments 0)))
         (name (profd-lsp--get first :function))
         (profile (profd-lsp--get first :profile)))
    (profd-session-ensure)
    (unless (or (null profile) (equal profile profd-session-profile))
      (profd-session-select profile))
    (pcase command
      ("profd.callers" (profd-callers-of name))
      ("profd.within" (profd-within-function name))
      ("profd.hotspots" (profd-hotspots))
      ("profd.summary" (profd-summary))
      ("profd.changes" (profd-changes))
      ("profd.openInBrowser" (profd-browse))
      ;; The other server would refuse it.
      (_ (let ((lsp--cur-workspace (lsp-find-workspace 'profd buffer-file-name)))
           (lsp-request "workspace/executeCommand"
                        (list :command command :arguments (or arguments []))))))))

(defun profd-lsp--handlers ()
  "Commands of profd and what does them."
  (let ((table (make-hash-table :test #'equal)))
    (dolist (command '("callers" "within" "hotspots" "summary" "changes" "openInBrowser" "assembly" "compare"))
      (puthash (concat "profd." command) #'profd-lsp--act table))
    table))

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
    :initialization-options #'profd-lsp--options
    :add-on? t
    :action-handlers (profd-lsp--handlers)
    :priority -3
    :server-id 'profd)))

(provide 'profd-lsp)
;;; profd-lsp.el ends here
