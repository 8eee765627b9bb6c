;;; record-test.el --- Recording, and what came of it  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A program of two functions is recorded, changed and recorded again.

;;; Code:

(require 'harness)

(defvar record-root (expand-file-name "recorded/" harness-work))

(defun record-write (rounds)
  "Write the program, which does ROUNDS of work."
  (make-directory (concat record-root ".git") t)
  (with-temp-file (concat record-root "app.py")
    (insert "\"\"\"Works.\"\"\"\n"
            "def work(n):\n"
            "    total = 0\n"
            "    return sum(i * i for i in range(n))\n"
            (format "for _ in range(%d):\n    work(20000)\n" rounds))))

(defun record-visit ()
  "Visit the program as it is now."
  (let ((buffer (get-file-buffer (concat record-root "app.py"))))
    (when (and buffer (not (verify-visited-file-modtime buffer)))
      (with-current-buffer buffer
        (revert-buffer t t t))))
  (set-buffer (harness-visit (concat record-root "app.py"))))

(ert-deftest profd-record-1-shows-what-a-command-costs ()
  (record-write 30)
  (record-visit)
  (let ((default-directory record-root))
    (profd-record "--with cProfile -- python3 app.py"))
  (harness-until "a recorded profile"
    (and profd-session-profile (string-suffix-p "cpu.pstats" profd-session-uri)))
  (harness-note "python3 app\\.py took .* measured by cProfile")
  (record-visit)
  (harness-hint 2 "%")
  ;; The profile has functions alone: a line within one is of it.
  (goto-char (point-min))
  (forward-line 2)
  (should (equal "work" (profd-function-here)))
  (profd-callers-of "work")
  (harness-buffer "*profd tree*" "<module>"))

(ert-deftest profd-record-2-compares-with-the-run-before ()
  (record-visit)
  (should-error (profd-changes) :type 'user-error)
  (record-write 90)
  (record-visit)
  (setq harness-notes nil)
  (let ((first profd-session-uri))
    (profd-record-again)
    (harness-until "another profile" (and profd-session-uri (not (equal first profd-session-uri)))))
  (harness-note "recorded again: .* → .*profd-changes")
  (profd-changes)
  (harness-until "a comparison" (profd-session-diff-p))
  (should (string-match-p "\\+[0-9.]+ .*work\\|\\+[0-9.]+ .*genexpr" (harness-buffer "*profd hotspots*" "→")))
  (profd-close)
  (harness-until "the recording again" (and profd-session-uri (not (profd-session-diff-p))))
  (should (= 2 (length (profd-record--list)))))

(ert-deftest profd-record-3-says-why-nothing-was-recorded ()
  (setq harness-notes nil)
  (let ((default-directory record-root))
    (profd-record "no-such-program-of-profd"))
  (harness-note "nothing was recorded (exited abnormally"))

;;; record-test.el ends here
