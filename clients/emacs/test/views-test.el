;;; views-test.el --- Lists, trees, reports, pictures  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The five questions, each as a user asks it.

;;; Code:

(require 'harness)
(require 'dom)

(defvar views-root (harness-project "views"))

(defun views-open ()
  "Have the profile of the project open."
  (unless (and profd-session-profile (string-suffix-p "cpu.pprof" profd-session-uri))
    (harness-open views-root)))

(defun views-key (key)
  "Do what KEY does here."
  (call-interactively (key-binding (kbd key))))

(defun views-go (regexp)
  "Go to the line that matches REGEXP."
  (goto-char (point-min))
  (re-search-forward regexp)
  (beginning-of-line))

(ert-deftest profd-hotspots-lists-functions-and-jumps ()
  (views-open)
  (profd-hotspots)
  (let ((text (harness-buffer "*profd hotspots*" "sha256\\.blockSHANI")))
    (should (string-match-p "cpu of cpu\\.pprof" text)))
  (with-current-buffer "*profd hotspots*"
    ;; Hottest first.
    (let ((values (mapcar (lambda (entry) (plist-get (car entry) :self-value)) tabulated-list-entries)))
      (should (equal values (sort (copy-sequence values) #'>))))
    (set-buffer "*profd hotspots*")
    (views-go "main\\.sign")
    (views-key "RET")
    (should (string-suffix-p "digest.go" buffer-file-name))
    (should (string-match-p "func sign" (thing-at-point 'line t)))))

(ert-deftest profd-keys-of-lists-filter-and-undo ()
  (views-open)
  (profd-hotspots)
  (harness-buffer "*profd hotspots*" "sha256\\.blockSHANI")
  (set-buffer "*profd hotspots*")
  (views-go "sha256\\.blockSHANI")
  (views-key "X")
  (harness-buffer "*profd hotspots*" "filters: drop function ")
  (harness-until "the function is gone"
    (with-current-buffer "*profd hotspots*"
      (save-excursion (goto-char (point-min))
                      (not (re-search-forward "^ .*SHANI" nil t)))))
  (set-buffer "*profd hotspots*")
  (views-key "u")
  (harness-until "the function is back"
    (with-current-buffer "*profd hotspots*"
      (save-excursion (goto-char (point-min))
                      (re-search-forward "sha256\\.blockSHANI" nil t)))))

(ert-deftest profd-tree-opens-where-it-is-hot-and-folds ()
  (views-open)
  (profd-tree)
  (harness-buffer "*profd tree*" "top-down by function")
  (harness-buffer "*profd tree*" "▾ main\\.main")
  (set-buffer "*profd tree*")
  (harness-until "three levels"
    (save-excursion (goto-char (point-min)) (re-search-forward "^.* \\{6\\}[▾▸ ] " nil t)))
  (views-go "▾ main\\.main")
  (let ((lines (count-lines (point-min) (point-max))))
    (views-key "TAB")
    (should (< (count-lines (point-min) (point-max)) lines))
    (should (looking-at ".*▸ main\\.main"))
    (views-key "TAB")
    (should (looking-at ".*▾ main\\.main")))
  (views-key "b")
  (harness-buffer "*profd tree*" "bottom-up by function"))

(ert-deftest profd-callers-are-references-of-xref ()
  (views-open)
  (switch-to-buffer (find-file-noselect (concat views-root "digest.go")))
  (goto-char (point-min))
  (forward-line 14)
  (should (equal "main.sign" (profd-function-here)))
  (let* ((items (xref-backend-references 'profd "main.sign"))
         (first (car items)))
    (should (string-match-p "main\\.verifyAll" (xref-item-summary first)))
    (should (string-suffix-p "digest.go" (xref-location-group (xref-item-location first)))))
  (should (member "main.sign" (all-completions "main.s" (profd-xref-table))))
  (profd-callers)
  ;; One caller: xref goes there, or lists it.
  (should (or (get-buffer "*xref*")
              (string-match-p "verifyAll\\|sign" (thing-at-point 'line t))))
  (profd-callers-of "main.sign")
  (harness-buffer "*profd tree*" "main\\.verifyAll"))

(ert-deftest profd-within-tells-lines-of-a-function ()
  (views-open)
  (switch-to-buffer (find-file-noselect (concat views-root "digest.go")))
  (harness-until "the daemon sees it" (profd-sync-attach))
  (profd-within-function "main.sign")
  (let ((text (harness-buffer "*profd within*" "digest\\.go:[0-9]+")))
    (should (string-match-p "\\`main\\.sign" text))
    (should (string-match-p "self [0-9.]+ m?s" text)))
  (set-buffer "*profd within*")
  (views-go "digest\\.go:[0-9]+")
  (let ((line (progn (re-search-forward "digest\\.go:\\([0-9]+\\)") (string-to-number (match-string 1)))))
    (beginning-of-line)
    (views-key "RET")
    (should (= line (line-number-at-pos)))))

(ert-deftest profd-report-reads-from-top-to-bottom ()
  (views-open)
  (profd-report)
  (harness-buffer "*profd report*" "main\\.")
  (set-buffer "*profd report*")
  (views-go " main\\.")
  (should (string-prefix-p "main." (plist-get (profd-view-row) :name))))

(ert-deftest profd-summary-is-the-first-glance ()
  (views-open)
  (profd-summary)
  (let ((text (harness-buffer "*profd summary*" "hottest functions")))
    (should (string-match-p "heaviest paths" text))
    (should (string-match-p "read as pprof" text))))

(ert-deftest profd-diff-lists-what-changed ()
  (let* ((folder (expand-file-name "tests/fixtures/compare/before-after/" harness-source))
         (default-directory views-root))
    (profd-diff (concat folder "before-1.pb.gz") (concat folder "after-1.pb.gz"))
    (harness-until "a comparison" (profd-session-diff-p))
    (profd-hotspots)
    (let ((text (harness-buffer "*profd hotspots*" "→")))
      (should (string-match-p "[+-][0-9.]+ m?s (" text))
      (should (string-match-p "^ .*main\\." text)))
    ;; What the numbers were multiplied with stands above them, however they are sorted.
    (with-current-buffer "*profd hotspots*"
      (goto-char (point-min))
      (tabulated-list-sort)
      (should (string-match-p "^values are as measured" (harness-text "*profd hotspots*"))))
    (profd-close)
    (harness-until "it is closed" (not (profd-session-diff-p)))
    (setq profd-session-profile nil)))

(ert-deftest profd-kinds-of-work-are-filters ()
  (views-open)
  (profd-sets)
  (harness-buffer "*profd kinds*" "libraries")
  (set-buffer "*profd kinds*")
  (views-go "^libraries")
  (views-key "RET")
  (harness-buffer "*profd kinds*" "^libraries.*kept")
  (set-buffer "*profd kinds*")
  (views-key "u")
  (harness-until "it is let go"
    (with-current-buffer "*profd kinds*"
      (save-excursion (goto-char (point-min)) (not (search-forward "kept" nil t))))))

(ert-deftest profd-timeline-says-so-where-no-times-are-known ()
  (views-open)
  (profd-timeline)
  (harness-buffer "*profd timeline*" "does not say when its samples were taken"))

(ert-deftest profd-timeline-shows-threads-and-keeps-a-window ()
  (let ((file (expand-file-name "timed.json" views-root)))
    (with-temp-file file
      (insert "[" (mapconcat (lambda (i)
                               (format "{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":900,\"name\":\"step\"}"
                                       (1+ (% i 2)) (* 1000 i)))
                             (number-sequence 0 9) ",")
              "]"))
    (harness-open views-root "timed.json")
    (profd-timeline)
    (harness-buffer "*profd timeline*" "[▁▂▃▄▅▆▇█]")
    (set-buffer "*profd timeline*")
    (let ((length (- (plist-get profd-timeline--answer :to) (plist-get profd-timeline--answer :from))))
      (views-key "+")
      (harness-until "half of it"
        (with-current-buffer "*profd timeline*"
          (< (- (plist-get profd-timeline--answer :to) (plist-get profd-timeline--answer :from))
             (* 0.6 length)))))
    (set-buffer "*profd timeline*")
    (views-key "W")
    (harness-note "filters: .*time ")
    (profd-undo)
    (profd-session-close)
    (setq profd-session-profile nil)))

(ert-deftest profd-assembly-shows-instructions-or-says-why-not ()
  (views-open)
  (profd-hotspots)
  (harness-buffer "*profd hotspots*" "main\\.sign")
  (set-buffer "*profd hotspots*")
  (views-go "main\\.sign")
  (views-key "a")
  ;; The binary is not on this machine.
  (harness-buffer "*profd assembly*" "main\\.sign[^$]*\\(not\\|no\\) ")
  ;; Rows as the daemon sends them.
  (let ((text (profd-assembly--rows
               '(:offset 0 :piece 0 :pieces [(:start "0x16b0")] :files ["/b/a.cc"] :fileUris ["file:///w/a.cc"]
                 :headings (:first [0] :text ["a.cc:9"])
                 :rows (:offset [4] :text ["add rax, 0x11"] :targetName [""] :file [0] :line [9]
                        :self [5] :selfText ["5 ns"] :selfShare ["5.0 %"] :heat [1.0])))))
    (should (string-match-p "a\\.cc:9\n +5\\.0 % +5 ns +16b4  add rax, 0x11" text))
    (should (equal 9 (plist-get (get-text-property (1- (length text)) 'profd-row text) :line)))))

(ert-deftest profd-analyse-shows-tables-of-scripts ()
  (views-open)
  (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "gc_share")))
    (profd-analyse))
  (harness-buffer "*profd analysis*" "\\`gc_share of cpu\\.pprof")
  (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "thread_imbalance")))
    (profd-analyse))
  (harness-buffer "*profd analysis*" "have no threads"))

(ert-deftest profd-selection-is-shared-with-other-clients ()
  (views-open)
  (profd-selection-share '(:name "main.sign"))
  (harness-until "it is chosen" (equal "main.sign" (plist-get profd-selection--shared :function)))
  (profd-selection)
  (should (string-suffix-p "digest.go" buffer-file-name))
  (setq harness-notes nil)
  (profd-selection--changed '(:selection (:function "main.verifyAll") :client "Firefox"))
  (harness-note "main\\.verifyAll is chosen in Firefox"))

;;;; Flame graphs

(defun views-flame ()
  "A buffer with the layout of a flame graph, drawn 1000 pixels wide."
  (views-open)
  (let ((buffer (get-buffer-create "*profd flame*")))
    (with-current-buffer buffer
      (unless (derived-mode-p 'profd-flame-mode)
        (profd-flame-mode))
      (cl-letf (((symbol-function 'profd-flame--window-width) (lambda () 1000)))
        (setq profd-flame--answer nil)
        (profd-flame--ask)))
    (harness-until "a layout" (buffer-local-value 'profd-flame--answer buffer))
    buffer))

(defun views-flame-rows ()
  "The rows of the flame graph as documents."
  (mapcar (lambda (depth)
            (with-temp-buffer
              (insert (with-current-buffer "*profd flame*" (profd-flame-svg depth)))
              (libxml-parse-xml-region (point-min) (point-max))))
          (number-sequence 0 (1- (length profd-flame--boxes)))))

(ert-deftest profd-flame-graph-is-svg-with-areas ()
  (with-current-buffer (views-flame)
    (let* ((rows (views-flame-rows))
           (texts (mapcan (lambda (row) (mapcar #'dom-text (dom-by-tag row 'text))) rows))
           (rects (mapcan (lambda (row) (dom-by-tag row 'rect)) rows)))
      (should (eq 'svg (dom-tag (car rows))))
      (should (> (length texts) 5))
      (should (member "main.main" texts))
      (should (= (length (seq-filter (lambda (rect) (string-prefix-p "#" (dom-attr rect 'fill))) rects))
                 (profd-flame--count)))
      (dotimes (depth (length rows))
        (dolist (area (profd-flame-map depth))
          (pcase-let ((`((rect . ((,x . 0) . (,right . ,_))) profd-box ,properties) area))
            (should (and (>= x 0) (<= right 1001) (<= x right)))
            ;; A click in the middle of an area is the box of that area.
            (should (equal (profd-help-text (profd-flame--describe
                                             (profd-flame-box-at (/ (+ x right) 2.0) depth)))
                           (plist-get properties 'help-echo)))))))))

(ert-deftest profd-flame-graph-shows-the-chosen-box-and-fades-the-way-to-it ()
  (with-current-buffer (views-flame)
    (let* ((index (seq-find (lambda (index) (equal "main.verifyAll" (profd-flame--name index)))
                            (number-sequence 0 (1- (profd-flame--count)))))
           (depth (profd-flame--column :depth index))
           (framed (lambda (row) (string-search "stroke-width=\"2\"" (profd-flame-svg row)))))
      (cl-letf (((symbol-function 'image-type-available-p) (lambda (&rest _) t))
                ((symbol-function 'create-image) (lambda (data type &rest more) (append (list 'image data type) more))))
        (profd-flame--choose index)
        (should (equal depth (get-text-property (point) 'profd-depth))))
      (should (funcall framed depth))
      (should-not (funcall framed (1- depth)))
      (should-not (string-search "fill-opacity" (profd-flame-svg 0)))
      (let ((profd-flame--zoom (profd-flame--path index)))
        (should (string-search "fill-opacity" (profd-flame-svg (1- depth))))
        (should-not (string-search "fill-opacity" (profd-flame-svg depth)))))))

(ert-deftest profd-flame-graph-zooms-back-and-finds ()
  (with-current-buffer (views-flame)
    (let* ((index (seq-find (lambda (index) (equal "main.verifyAll" (profd-flame--name index)))
                            (number-sequence 0 (1- (profd-flame--count)))))
           (path (profd-flame--path index)))
      (should (equal "main.verifyAll" (car (last path))))
      (cl-letf (((symbol-function 'profd-flame--window-width) (lambda () 1000)))
        (profd-flame--choose index)
        (should (equal "main.verifyAll" (plist-get (profd-view-row) :name)))
        (setq profd-flame--answer nil)
        (profd-flame--zoom-to path)
        (harness-until "the zoomed layout" (buffer-local-value 'profd-flame--answer (get-buffer "*profd flame*")))
        (should (equal profd-flame--zoom path))
        (let ((at (seq-find (lambda (index) (equal "main.verifyAll" (profd-flame--name index)))
                            (number-sequence 0 (1- (profd-flame--count))))))
          (should (> (nth 1 (profd-flame--span at)) 990))
          (should (equal path (profd-flame--path at))))
        (setq profd-flame--answer nil)
        (profd-flame-back)
        (harness-until "all of it" (buffer-local-value 'profd-flame--answer (get-buffer "*profd flame*")))
        (should-not profd-flame--zoom)
        (setq profd-flame--answer nil)
        (profd-flame-search "sign$")
        (harness-until "what matches" (buffer-local-value 'profd-flame--answer (get-buffer "*profd flame*")))
        (should (string-match-p "search: sign\\$: [0-9.]+ m?s · [0-9.]+ % in 2 functions"
                                (profd-flame--heading)))
        (profd-flame-search "")))))

(ert-deftest profd-flame-graph-shows-names-as-they-are ()
  (should (equal (profd-flame-escape "<script>&\"'\n") "&#60;script&#62;&#38;&#34;&#39; ")))

(ert-deftest profd-hostile-names-are-text-everywhere ()
  (let ((names '("%s %n \\[save-buffers-kill-terminal] `x'" "<script>alert(1)</script>&amp;" "a\"b\\c" "‮evil"))
        (file (expand-file-name "hostile.folded" views-root)))
    (let ((coding-system-for-write 'utf-8))
      (with-temp-file file
        (dolist (name names)
          (insert "main;" name " 10\n"))))
    (harness-open views-root "hostile.folded")
    (profd-hotspots)
    ;; Lists have short names; what they cut is not what is looked at here.
    (harness-buffer "*profd hotspots*" "evil")
    (with-current-buffer "*profd hotspots*"
      (should (string-search "%s %n" (buffer-string)))
      (should-not (string-search "‮" (buffer-string))))
    ;; A name goes to the daemon and back as it is.
    (profd-filter (concat "keep function " (profd-quote "a\"b\\c")))
    (harness-until "one path"
      (with-current-buffer "*profd hotspots*"
        (not (string-search "evil" (buffer-string)))))
    (profd-undo)
    (let ((profd-flame--answer nil))
      (with-current-buffer (get-buffer-create "*profd flame*")
        (unless (derived-mode-p 'profd-flame-mode)
          (profd-flame-mode))
        (setq profd-flame--answer nil
              profd-flame--zoom nil)
        (profd-flame--ask)
        (harness-until "a layout" (buffer-local-value 'profd-flame--answer (get-buffer "*profd flame*")))
        (let ((rows (views-flame-rows)))
          (should-not (mapcan (lambda (row) (dom-by-tag row 'script)) rows))
          (should (seq-find (lambda (text) (string-search "evil" (dom-text text)))
                            (mapcan (lambda (row) (dom-by-tag row 'text)) rows)))
          (dolist (area (mapcan #'profd-flame-map (number-sequence 0 (1- (length rows)))))
            (let ((help (plist-get (nth 2 area) 'help-echo)))
              (should-not (string-search "C-x C-c" (substitute-command-keys help))))))))
    (profd-session-close)
    (setq profd-session-profile nil)))

(ert-deftest profd-flame-graph-opens-in-the-browser-without-images ()
  (views-open)
  (let (address)
    (let ((browse-url-browser-function (lambda (url &rest _) (setq address url))))
      (profd-flame))
    (should (string-match-p "\\`http://127\\.0\\.0\\.1:[0-9]+/" address))))

;;; views-test.el ends here
