;;; eglot-test.el --- Eglot, with profd in front of a language server  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Eglot takes one server a buffer: `profd lsp --wrap' is that one.

;;; Code:

(require 'harness)
(dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa*/*"))
  (add-to-list 'load-path folder))

(define-derived-mode eglot-test-mode prog-mode "Go"
  "What files of Go are in without go-mode.")

(ert-deftest eglot-shows-what-both-servers-say ()
  (unless (require 'eglot nil t)
    (message "PARTLY NOT RUN: Eglot is not installed; the proxy is not tried in it")
    (ert-skip "no Eglot"))
  (let* ((root (harness-project "eglot"))
         (other (expand-file-name "tests/e2e/emacs/other_server.py" harness-source))
         (eglot-server-programs
          `((eglot-test-mode . ("profd" "lsp" "--patience" "60000" "--wrap" ,(format "python3 %s" other)))))
         (eglot-sync-connect t)
         (eglot-autoshutdown nil))
    (with-temp-file (expand-file-name ".profd.toml" root)
      (insert "profiles = [\"cpu.pprof\"]\n"))
    (find-file (expand-file-name "digest.go" root))
    (eglot-test-mode)
    (apply #'eglot (eglot--guess-contact))
    (should (eglot-managed-p))
    (let ((server (eglot-current-server)))
      (goto-char (point-min))
      (search-forward "sha256.Sum256(digest[:])")
      ;; ElDoc asks this; the other server does not wait for a profile to be read.
      (let ((text (harness-until "costs in the hover"
                    (let* ((hover (jsonrpc-request server :textDocument/hover
                                                   (eglot--TextDocumentPositionParams)))
                           (text (plist-get (plist-get hover :contents) :value)))
                      (and (string-match-p "940 ms" text) text)))))
        (should (string-match-p "said by the other server" text)))
      (harness-until "the other server's diagnostic"
        (flymake-start)
        (seq-find (lambda (found)
                    (string-match-p "found by the other server" (flymake-diagnostic-text found)))
                  (flymake-diagnostics)))
      ;; What `eglot-code-actions' offers.
      (let ((actions (jsonrpc-request
                      server :textDocument/codeAction
                      (list :textDocument (eglot--TextDocumentIdentifier)
                            :range (list :start (eglot--pos-to-lsp-position) :end (eglot--pos-to-lsp-position))
                            :context (list :diagnostics [])))))
        (should (seq-find (lambda (action) (string-match-p "Who calls" (plist-get action :title))) actions)))
      (eglot-shutdown server))))

;;; eglot-test.el ends here
