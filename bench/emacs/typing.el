;;; typing.el --- What typing costs with hints on  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Types 1,000 characters into a file of 10,000 lines, with the hints of a
;; profile on and without `profd-mode', and prints how long the main loop
;; took for each: the command, and what timers did after it.  Run by
;; typing.sh.

;;; Code:

(require 'profd)

(setq profd-command '("profd" "connect" "--idle-timeout" "1")
      gc-cons-threshold (* 64 1024 1024))

(defun typing-round (n pauses)
  "Type N characters; the milliseconds of each.  With PAUSES Emacs is idle after each."
  (let (times)
    (goto-char (point-min))
    (forward-line 5000)
    (dotimes (i n)
      (let ((start (float-time)))
        (self-insert-command 1 (if (= 0 (% i 60)) ?\n ?x))
        ;; Idle: edits are sent, and hints asked for and painted.
        (dolist (timer (and pauses (copy-sequence timer-idle-list)))
          (when (memq (timer--function timer) '(profd-sync--idle))
            (timer-event-handler timer)))
        (accept-process-output nil 0)
        (sit-for 0)
        (push (* 1000 (- (float-time) start)) times))
      ;; The daemon works meanwhile; that is no time of Emacs.
      (sleep-for 0.004))
    (sort times #'<)))

(defun typing-print (what times)
  "Print the middle and the 95th of 100 of TIMES, which are of WHAT."
  (princ (format "%-22s median %.2f ms, p95 %.2f ms, most %.2f ms\n" what
                 (nth (/ (length times) 2) times)
                 (nth (floor (* 0.95 (length times))) times)
                 (car (last times)))))

(let* ((root (file-name-as-directory (getenv "PROFD_BENCH_ROOT")))
       (default-directory root))
  (switch-to-buffer (find-file-noselect (concat root "big.go")))
  (buffer-disable-undo)
  (typing-print "without profd" (typing-round 1000 nil))
  (revert-buffer t t t)
  (profd-open (concat root "big.folded"))
  (let ((deadline (+ (float-time) 20)))
    (while (and (null profd-annotate--overlays) (< (float-time) deadline))
      (accept-process-output nil 0.02)
      (profd-annotate-entered)))
  (princ (format "%d hints in %d lines\n" (length profd-annotate--overlays)
                 (count-lines (point-min) (point-max))))
  (typing-print "with hints" (typing-round 1000 nil))
  (typing-print "a pause at every key" (typing-round 1000 t))
  (set-buffer-modified-p nil))

;;; typing.el ends here
