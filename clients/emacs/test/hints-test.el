;;; hints-test.el --- Hints as a user sees them  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Opening a profile, hints, edits, hovers, metrics and filters.

;;; Code:

(require 'harness)

(defvar hints-root (harness-project "hints"))

(defun hints-digest ()
  "Show digest.go, with the profile of the project open."
  (unless (and profd-session-profile (string-suffix-p "cpu.pprof" profd-session-uri))
    (harness-open hints-root))
  (harness-visit (concat hints-root "digest.go")))

(ert-deftest profd-opening-a-profile-puts-hints-on-hot-lines ()
  (harness-open hints-root)
  (harness-note "\\`profd: cpu\\.pprof: cpu 8\\.34 s, [0-9,]+ records")
  (hints-digest)
  ;; What `go tool pprof -list main.sign' says: 940 ms of 8.34 s, and 260 ms.
  (harness-hint 15 "\\`11\\.3 %  940 ms")
  (harness-hint 39 "\\`14\\.6 %  1\\.22 s")
  (should (equal (mapcar #'car (harness-hints)) '(13 15 30 39))))

(ert-deftest profd-hints-stand-in-one-column ()
  (hints-digest)
  (harness-hint 15 "11\\.3 %")
  ;; With room for every hint.
  (cl-letf (((symbol-function 'profd-annotate--columns) (lambda () 160)))
    (profd-annotate--dress))
  (let ((columns
         (mapcar (lambda (overlay)
                   (let ((text (overlay-get overlay 'after-string)))
                     (goto-char (overlay-start overlay))
                     (end-of-line)
                     (+ (current-column) (string-search "%" text))))
                 (seq-filter (lambda (overlay)
                               (and (overlay-get overlay 'profd)
                                    (memq (line-number-at-pos (overlay-start overlay)) '(13 15 39))))
                             (overlays-in (point-min) (point-max))))))
    (should (equal (make-list 3 (car columns)) columns))))

(ert-deftest profd-hints-say-less-where-there-is-less-room ()
  (should (equal (profd-annotate-shorten " 11.3 %  940 ms · self 2.0 % " 40)
                 " 11.3 %  940 ms · self 2.0 % "))
  (should (equal (profd-annotate-shorten " 11.3 %  940 ms · self 2.0 % " 20) " 11.3 %  940 ms"))
  (should (equal (profd-annotate-shorten " 11.3 %  940 ms · self 2.0 % " 8) " 11.3 %")))

(ert-deftest profd-hints-move-with-unsaved-text-and-changed-lines-are-stale ()
  (hints-digest)
  (harness-hint 15 "940 ms")
  (unwind-protect
      (progn
        (goto-char (point-min))
        (insert "// größe 🔥\n\n")
        ;; At once, by themselves.
        (should (equal (mapcar #'car (harness-hints)) '(15 17 32 41)))
        (goto-char (point-min))
        (forward-line 16)
        (end-of-line)
        (insert " // changed")
        (profd-sync--idle)
        (harness-until "a stale line"
          (seq-find (lambda (overlay)
                      (and (overlay-get overlay 'profd-stale)
                           (= 17 (line-number-at-pos (overlay-start overlay)))))
                    (overlays-in (point-min) (point-max))))
        (harness-hint 17 "\\`~ *11\\.3 %")
        (should (eq 'profd-stale
                    (let ((overlay (seq-find (lambda (overlay) (overlay-get overlay 'profd-stale))
                                             (overlays-in (point-min) (point-max)))))
                      (get-text-property (1- (length (overlay-get overlay 'after-string))) 'face
                                         (overlay-get overlay 'after-string))))))
    (set-buffer-modified-p nil)
    (revert-buffer t t t)
    (profd-annotate-entered))
  (harness-hint 15 "\\`11\\.3 %"))

(ert-deftest profd-a-deleted-line-takes-its-hint-along ()
  (hints-digest)
  (harness-hint 15 "940 ms")
  (goto-char (point-min))
  (forward-line 14)
  (delete-region (line-beginning-position) (line-beginning-position 2))
  (should-not (seq-find (lambda (hint) (string-match-p "940 ms" (cdr hint))) (harness-hints)))
  (set-buffer-modified-p nil)
  (revert-buffer t t t)
  (profd-annotate-entered)
  (harness-hint 15 "940 ms"))

(ert-deftest profd-edits-of-every-kind-reach-the-daemon ()
  ;; What the daemon has after random edits is what the buffer has: the hints of a line are found again.
  (hints-digest)
  (harness-hint 15 "940 ms")
  (random "profd")
  (goto-char (point-min))
  (forward-line 14)
  (let ((line (buffer-substring (line-beginning-position) (line-end-position))))
    (dotimes (_ 60)
      (goto-char (1+ (random 120)))
      (pcase (random 3)
        (0 (insert "ä🔥x\n"))
        (1 (delete-region (point) (min (point-max) (+ (point) (random 4)))))
        (_ (insert "word"))))
    (upcase-region 1 60)
    (profd-sync--idle)
    (goto-char (point-min))
    (search-forward line)
    (let ((at (line-number-at-pos)))
      (harness-until "the hint at its line, by the daemon's word"
        (and (equal profd-annotate--of (profd-annotate--wanted))
             (string-match-p "940 ms" (or (cdr (assq at (harness-hints))) ""))))
      (let ((answer (profd-call :source/annotations
                                (list :profile profd-session-profile
                                      :textDocument (profd-sync-document)))))
        (should (seq-contains-p (plist-get (plist-get answer :lines) :line) (1- at))))))
  (set-buffer-modified-p nil)
  (revert-buffer t t t))

(ert-deftest profd-eldoc-and-hover-say-what-the-line-costs ()
  (hints-digest)
  (harness-hint 15 "940 ms")
  (goto-char (point-min))
  (forward-line 14)
  (let (said)
    (profd-hover-eldoc (lambda (text &rest _) (setq said text)))
    (harness-until "ElDoc's text" said)
    (should (string-match-p "main\\.sign digest\\.go:15  cpu 10\\.0 ms of itself, 940 ms in all (11\\.3 %)" said)))
  (profd-hover)
  (let ((text (harness-buffer "*profd line*" "^cpu ")))
    (should (string-match-p "verifyAll" text))
    (should (string-match-p "Sum256" text)))
  (goto-char (point-min))
  (setq harness-notes nil)
  (profd-hover)
  (harness-note "nothing was measured on this line"))

(ert-deftest profd-another-metric-has-other-hints ()
  (hints-digest)
  (harness-hint 15 "940 ms")
  (should (equal '("samples" "cpu")
                 (seq-intersection '("samples" "cpu")
                                   (mapcar (lambda (metric) (plist-get metric :name))
                                           (profd-session-metrics)))))
  (profd-metric "samples")
  (harness-hint 15 "11\\.3 %  94\\b")
  (should (string-match-p "samples" (profd--lighter)))
  (profd-metric "cpu")
  (harness-hint 15 "940 ms"))

(ert-deftest profd-filters-have-undo-and-redo ()
  (hints-digest)
  (harness-hint 15 "\\`11\\.3 %")
  (profd-filter "keep function main.verifyAll")
  (harness-hint 15 "\\`[2-9][0-9]\\.[0-9] %")
  (profd-undo)
  (harness-hint 15 "\\`11\\.3 %")
  (should-error (profd-undo) :type 'user-error)
  (profd-redo)
  (harness-hint 15 "\\`[2-9][0-9]\\.[0-9] %")
  (profd-undo)
  (harness-hint 15 "\\`11\\.3 %")
  (should-error (call-interactively #'profd-undo) :type 'user-error))

(ert-deftest profd-toggle-takes-hints-off-and-brings-them-back ()
  (hints-digest)
  (harness-hint 15 "940 ms")
  (profd-annotate-toggle)
  (should-not (harness-hints))
  (profd-annotate-toggle)
  (harness-hint 15 "940 ms"))

(ert-deftest profd-names-are-shown-and-never-read ()
  (should (equal (profd-clean (propertize "a\nb\tc\u202ed" 'face 'bold 'display "x")) "a b c d"))
  (should-not (text-properties-at 0 (profd-clean (propertize "a" 'help-echo "x"))))
  (should (equal (profd-mode-line-text "50%b") "50%%b"))
  (let ((name "\\[save-buffers-kill-terminal] `x' \\<foo> \\{bar} \\=q"))
    (should (equal (substring-no-properties (substitute-command-keys (profd-help-text name))) name)))
  (should (equal (profd-quote "say \"hi\" \\ \n") "\"say \\\"hi\\\" \\\\ \\x0a\""))
  (should-not (profd-file "file:///ssh:host:/etc/passwd"))
  (should-not (profd-file "file:///a%00b"))
  (should-not (profd-file "http://x/y")))

(ert-deftest profd-files-and-uris-are-one ()
  (dolist (name '("/a b/ä#?%.go" "/x/日本.go"))
    (should (equal name (profd-file (profd-uri name))))))

(ert-deftest profd-heat-keeps-to-the-background ()
  (cl-letf (((symbol-function 'display-color-cells) (lambda (&rest _) 16777216)))
    (dolist (mode '(dark light))
      (let* ((frame-background-mode mode)
             (faces (mapcar #'profd-heat-face '(0.1 0.5 1.0))))
        (should (= 3 (length (seq-uniq faces))))
        (dolist (face faces)
          (let ((bg (profd-heat-rgb (plist-get face :background)))
                (fg (profd-heat-rgb (plist-get face :foreground))))
            (should (>= (profd-heat-contrast fg bg) 4.4))))
        (should (if (eq mode 'dark)
                    (< (profd-heat-luminance (profd-heat-rgb (plist-get (car faces) :background))) 0.1)
                  (> (profd-heat-luminance (profd-heat-rgb (plist-get (car faces) :background))) 0.7)))))))

;;; hints-test.el ends here
