;;; lsp-mode-test.el --- lsp-mode, with profd beside clangd  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; lsp-mode takes several servers a buffer: profd is an add-on of its own.

;;; Code:

(require 'harness)
(require 'profd-lsp)
(dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa*/*"))
  (add-to-list 'load-path folder))

(defconst lsp-mode-test-source
  "int work(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += i;
  return sum;
}
int main(int n, char **v) { return work(n); }
")

(defun lsp-mode-test-project ()
  "A C program and what it cost; the file of its source."
  (let* ((root (file-name-as-directory (expand-file-name "lsp-mode" harness-work)))
         (source (concat root "work.c")))
    (make-directory (concat root ".git") t)
    (dolist (file `(("work.c" ,lsp-mode-test-source)
                    ("compile_flags.txt" "-std=c11\n")
                    (".profd.toml" "profiles = [\"cpu.callgrind\"]\n")
                    ("cpu.callgrind"
                     ,(format "# callgrind format\nevents: Instructions\nfl=%s\nfn=work\n1 10\n3 900\n4 90\nfn=main\n6 5\ncfn=work\ncalls=1 1\n6 1000\n"
                              source))))
      (with-temp-file (concat root (car file))
        (insert (cadr file))))
    source))

(defun lsp-mode-test-ready ()
  "The servers of the buffer that are there, as symbols."
  (mapcar (lambda (workspace) (funcall (intern "lsp--workspace-server-id") workspace))
          (seq-filter (lambda (workspace)
                        (eq 'initialized (funcall (intern "lsp--workspace-status") workspace)))
                      (symbol-value 'lsp--buffer-workspaces))))

(defun lsp-mode-test-ask (method params)
  "What the servers together answer to METHOD with PARAMS."
  (with-no-warnings (lsp-request method params)))

(defun lsp-mode-test-texts (value)
  "All texts in VALUE, an answer."
  (cond ((stringp value) (list value))
        ((hash-table-p value) (mapcan #'lsp-mode-test-texts (hash-table-values value)))
        ((consp value) (append (lsp-mode-test-texts (car value)) (lsp-mode-test-texts (cdr value))))
        ((vectorp value) (mapcan #'lsp-mode-test-texts (append value nil)))))

(ert-deftest lsp-mode-shows-what-both-servers-say ()
  (unless (require 'lsp-mode nil t)
    (message "PARTLY NOT RUN: lsp-mode is not installed; profd is not tried in it")
    (ert-skip "no lsp-mode"))
  (unless (seq-some #'executable-find '("clangd" "clangd-14"))
    (message "PARTLY NOT RUN: clangd is not installed; profd is not tried beside it in lsp-mode")
    (ert-skip "no clangd"))
  (setq lsp-clients-clangd-executable (seq-some #'executable-find '("clangd" "clangd-14"))
        lsp-auto-guess-root t
        lsp-response-timeout 60
        lsp-enable-snippet nil
        lsp-diagnostics-provider :none
        lsp-completion-provider :none
        lsp-keep-workspace-alive nil
        lsp-session-file (expand-file-name "lsp-session" harness-work))
  (load "lsp-mode-autoloads" t t)
  (require 'lsp-clangd)
  (profd-lsp-register)
  (switch-to-buffer (find-file-noselect (lsp-mode-test-project)))
  (c-mode)
  (with-no-warnings
    (require 'lsp-lens)
    (lsp)
    (harness-until "both servers" (seq-set-equal-p '(clangd profd) (lsp-mode-test-ready)))
    (goto-char (point-min))
    (search-forward "work")
    (backward-char)
    (let ((here (lsp--text-document-position-params))
          (document (list :textDocument (lsp--text-document-identifier))))
      (harness-until "the profile, in the lenses"
        (member "total 99.5 % · self 99.5 % · 1 caller"
                (lsp-mode-test-texts (lsp-request "textDocument/codeLens" document))))
      ;; One hover has what both say of the function.
      (let ((hover (string-join (lsp-mode-test-texts (lsp-request "textDocument/hover" here)) "\n")))
        (should (string-search "int work(int n)" hover))
        (should (string-search "| Instructions | 10 | 10 | 1.0 % |" hover)))
      (should (member "profd: Who calls work"
                      (mapcar (lambda (action) (gethash "title" action))
                              (append (lsp-request "textDocument/codeAction"
                                                   (lsp--text-document-code-action-params))
                                      nil))))
      ;; clangd 14 has a call hierarchy, too: asked of one server it is that server's.
      (let* ((lsp--cur-workspace (lsp-find-workspace 'profd buffer-file-name))
             (item (elt (lsp-request "textDocument/prepareCallHierarchy" here) 0))
             (calls (lsp-request "callHierarchy/incomingCalls" (list :item item))))
        (should (equal "work" (gethash "name" item)))
        (should (equal "main" (gethash "name" (gethash "from" (elt calls 0)))))))
    (lsp-lens-mode 1)
    (let ((lens (harness-until "a lens"
                  (seq-some (lambda (overlay)
                              (when-let ((text (or (overlay-get overlay 'after-string)
                                                   (overlay-get overlay 'before-string)))
                                         (at (text-property-not-all 0 (length text) 'action nil text)))
                                (and (string-search "total 99.5 %" text) (get-text-property at 'action text))))
                            (overlays-in (point-min) (point-max))))))
      (funcall lens)
      (harness-buffer "*profd tree*" "main"))
    (switch-to-buffer "work.c")
    ;; Its hints are those of `profd-mode', beside the other server.
    (global-profd-mode 1)
    (harness-hint 3 "89\\.6 %")
    (lsp-disconnect)))

;;; lsp-mode-test.el ends here
