;;; harness.el --- What the tests of profd share  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Waits are on conditions, never on time.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'profd)

(defvar harness-source (getenv "PROFD_TEST_SOURCE"))
(defvar harness-work (getenv "PROFD_TEST_WORK"))
(defvar harness-notes nil "Messages since the test began, newest first.")

(setq profd-command '("profd" "connect" "--idle-timeout" "1")
      create-lockfiles nil
      make-backup-files nil
      auto-save-default nil
      vc-handled-backends nil)

(advice-add 'message :before
            (lambda (format &rest args)
              (let ((text (if format (apply #'format-message format args) "")))
              (when (string-prefix-p "profd:" text)
                (push (substring-no-properties text) harness-notes)))))

(defun harness-wait (condition what)
  "Wait until CONDITION gives something, and return it; WHAT says what is awaited."
  (let ((deadline (+ (float-time) 30))
        value)
    (while (and (not (setq value (funcall condition))) (< (float-time) deadline))
      (accept-process-output nil 0.01))
    (or value
        (error "%s: did not happen; messages: %S" what (seq-take harness-notes 12)))))

(defmacro harness-until (what &rest body)
  "Wait until BODY gives something, which is WHAT."
  (declare (indent 1))
  `(harness-wait (lambda () ,@body) ,what))

(defun harness-note (regexp)
  "Wait for a message that matches REGEXP."
  (harness-until (format "a message like %s" regexp)
    (seq-find (lambda (note) (string-match-p regexp note)) harness-notes)))

(defun harness-project (name)
  "A copy of the go-demo fixture called NAME, a project of its own."
  (let ((root (expand-file-name (concat name "/go-demo/") harness-work)))
    (make-directory (concat root ".git") t)
    (dolist (file (directory-files (expand-file-name "tests/fixtures/go-demo" harness-source) t "\\`[^.]"))
      (let ((to (expand-file-name (file-name-nondirectory file) root)))
        (copy-file file to t)
        ;; Older than the recording, as they were.
        (set-file-times to (seconds-to-time 1600000000))))
    root))

(defun harness-visit (file)
  "Visit FILE in the selected window."
  (switch-to-buffer (find-file-noselect file))
  (profd-annotate-entered)
  (current-buffer))

(defun harness-hints (&optional buffer)
  "The hints of BUFFER: an alist of lines from 1 and what is written there."
  (with-current-buffer (or buffer (current-buffer))
    (sort (mapcar (lambda (overlay)
                    (cons (line-number-at-pos (overlay-start overlay))
                          (string-trim (substring-no-properties (overlay-get overlay 'after-string)))))
                  (seq-filter (lambda (overlay) (overlay-get overlay 'profd))
                              (overlays-in (point-min) (point-max))))
          (lambda (a b) (< (car a) (car b))))))

(defun harness-hint (line regexp)
  "Wait until the hint of LINE matches REGEXP."
  (harness-until (format "a hint like %s on line %d" regexp line)
    (let ((text (cdr (assq line (harness-hints)))))
      (and text (string-match-p regexp text) text))))

(defun harness-buffer (name regexp)
  "Wait until the buffer NAME has a match of REGEXP; return its text."
  (harness-until (format "%s in %s, which has: %s" regexp name (harness-text name))
    (let ((text (harness-text name)))
      (and (string-match-p regexp text) text))))

(defun harness-text (name)
  "What the buffer NAME shows, with what stands above its rows."
  (if (not (get-buffer name)) ""
    (with-current-buffer name
      (concat (and profd-view--heading
                   (substring-no-properties (or (overlay-get profd-view--heading 'before-string) "")))
              (buffer-substring-no-properties (point-min) (point-max))))))

(defun harness-open (root &optional profile)
  "Open PROFILE, or cpu.pprof, of ROOT and wait for it."
  (setq harness-notes nil)
  (let ((default-directory root))
    (profd-open (expand-file-name (or profile "cpu.pprof") root)))
  (harness-until "an open profile"
    (and profd-session-profile (= 0 profd-session--opening)
         (string-suffix-p (or profile "cpu.pprof") profd-session-uri)
         profd-session-profile)))

(defun harness-daemons ()
  "Processes of the daemon that serves this home."
  (let ((socket (concat (getenv "XDG_RUNTIME_DIR") "/profd/")))
    (seq-filter (lambda (pid)
                  (string-search socket (or (ignore-errors
                                              (alist-get 'args (process-attributes pid)))
                                            "")))
                (list-system-processes))))

(provide 'harness)
;;; harness.el ends here
