;;; profd-flame.el --- Flame graphs as pictures  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A flame graph as an SVG image: the mouse and the keys choose boxes,
;; zoom into them and go to their source.  Where Emacs shows no images
;; the graph opens in the browser.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'image)
(require 'browse-url)
(require 'profd-base)
(require 'profd-session)
(require 'profd-heat)
(require 'profd-view)

(defcustom profd-flame-row-height 18
  "Pixels of a row."
  :type 'natnum
  :group 'profd-flame)

(defcustom profd-flame-font-size 12
  "Pixels of the text in boxes."
  :type 'natnum
  :group 'profd-flame)

(defcustom profd-flame-max-rows 120
  "Rows of the picture at most; zooming in shows what is below."
  :type 'natnum
  :group 'profd-flame)

(defconst profd-flame--char-width 0.62
  "Width of a character beside its height, for how much of a name fits.")

(defvar-local profd-flame--shape "top-down by function")
(defvar-local profd-flame--answer nil)
(defvar-local profd-flame--clauses nil)
(defvar-local profd-flame--zoom nil "Names from the root to the box that fills the width.")
(defvar-local profd-flame--back nil "Where the picture was zoomed to before, the last one first.")
(defvar-local profd-flame--search nil)
(defvar-local profd-flame--chosen nil "Index of the box that is chosen.")
(defvar-local profd-flame--width 800)
(defvar-local profd-flame--picture nil "The picture without the frame of the chosen box.")

(defvar profd-flame-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap profd-view-map special-mode-map))
    (dolist (binding '(("RET" . profd-flame-zoom) ("DEL" . profd-flame-back) ("l" . profd-flame-back)
                       ("0" . profd-flame-reset) ("/" . profd-flame-search) ("b" . profd-flame-turn)
                       ("n" . profd-flame-next) ("p" . profd-flame-previous)
                       ("<right>" . profd-flame-next) ("<left>" . profd-flame-previous)
                       ("<up>" . profd-flame-parent) ("<down>" . profd-flame-child)
                       ("<mouse-1>" . profd-flame-mouse-zoom)
                       ("<mouse-2>" . profd-flame-mouse-visit)
                       ("<mouse-3>" . profd-flame-mouse-visit)))
      (define-key map (kbd (car binding)) (cdr binding)))
    ;; Clicks on boxes of the image map are told with the name of the map's areas.
    (define-key map [profd-box mouse-1] #'profd-flame-mouse-zoom)
    (define-key map [profd-box mouse-2] #'profd-flame-mouse-visit)
    (define-key map [profd-box mouse-3] #'profd-flame-mouse-visit)
    (define-key map [profd-box down-mouse-1] #'ignore)
    (define-key map [profd-box down-mouse-3] #'ignore)
    map)
  "Keys of flame graphs.")

(define-derived-mode profd-flame-mode special-mode "profd-flame"
  "A flame graph.
\\{profd-flame-mode-map}"
  (setq buffer-undo-list t
        truncate-lines t
        cursor-type nil
        profd-view-refresh-function #'profd-flame--ask
        profd-view-row-function #'profd-flame--row)
  (setq-local revert-buffer-function (lambda (&rest _) (profd-view-refresh)))
  (add-hook 'window-size-change-functions #'profd-flame--resized nil t))

;;;; Boxes of the answer

(defun profd-flame--column (key index)
  "What the column KEY of boxes has at INDEX."
  (aref (plist-get (plist-get profd-flame--answer :boxes) key) index))

(defun profd-flame--count ()
  "How many boxes there are."
  (length (plist-get (plist-get profd-flame--answer :boxes) :x)))

(defun profd-flame--name (index)
  "The whole name of box INDEX."
  (aref (plist-get profd-flame--answer :names) (profd-flame--column :name index)))

(defun profd-flame--scale ()
  "Pixels of a unit of the metric."
  (let ((total (plist-get (plist-get profd-flame--answer :zoomTotal) :value)))
    (if (or (null total) (= 0 total)) 0.0 (/ (float profd-flame--width) (abs total)))))

(defun profd-flame--rect (index)
  "Left, top, width and height of box INDEX in pixels."
  (let ((scale (profd-flame--scale)))
    (list (* scale (profd-flame--column :x index))
          (* profd-flame-row-height (profd-flame--column :depth index))
          (* scale (profd-flame--column :width index))
          profd-flame-row-height)))

(defun profd-flame-box-at (x y)
  "Index of the box at the pixel X, Y of the picture, or nil."
  (cl-loop with depth = (floor y profd-flame-row-height)
           for index below (profd-flame--count)
           for rect = (and (= depth (profd-flame--column :depth index)) (profd-flame--rect index))
           when (and rect (<= (nth 0 rect) x) (< x (+ (nth 0 rect) (nth 2 rect))))
           return index))

(defun profd-flame--path (index)
  "Names from the root of the view to box INDEX, without the root's own."
  (let (names)
    (while (and (>= index 0) (>= (profd-flame--column :parent index) 0))
      (push (profd-flame--name index) names)
      (setq index (profd-flame--column :parent index)))
    names))

(defun profd-flame--row ()
  "The chosen box as a row."
  (when (and profd-flame--answer profd-flame--chosen)
    (let* ((named (plist-get profd-flame--answer :named))
           (name (profd-flame--column :name profd-flame--chosen))
           (files (plist-get profd-flame--answer :files))
           (file (and (plist-get named :file) (aref (plist-get named :file) name))))
      (list :name (profd-flame--name profd-flame--chosen)
            :file (and file (>= file 0) (< file (length files)) (aref files file))
            :line (and (plist-get named :line) (aref (plist-get named :line) name))))))

(defun profd-flame--describe (index)
  "What box INDEX is, in a line."
  (let* ((details (plist-get (plist-get profd-flame--answer :boxes) :selfText))
         (changes (plist-get profd-flame--answer :changes)))
    (profd-clean
     (format "%s  %s%s%s" (profd-flame--name index)
             (profd-flame--column :text index)
             (if details (concat ", self " (aref details index)) "")
             (if changes (concat "; " (aref (plist-get changes :text) index)) "")))))

;;;; The picture

(defun profd-flame-escape (text)
  "TEXT as XML has it."
  (replace-regexp-in-string
   "[&<>\"']" (lambda (char) (format "&#%d;" (aref char 0))) (profd-clean text) t t))

(defun profd-flame--color (index)
  "The colour of box INDEX."
  (let ((changes (plist-get profd-flame--answer :changes)))
    (cond
     ((and profd-flame--search (= 0 (logand 8 (profd-flame--column :flags index))))
      (if (profd-heat-dark-p) "#3a3d44" "#e4e5e9"))
     (changes (profd-heat-change (aref (plist-get changes :strength) index)))
     (t
      (let* ((groups (plist-get profd-flame--answer :groups))
             (group (aref (plist-get (plist-get profd-flame--answer :named) :group)
                          (profd-flame--column :name index))))
        (profd-heat-box (and (>= group 0) (< group (length groups)) (aref groups group))
                        (profd-flame--name index)))))))

(defun profd-flame--label (index width)
  "What of the name of box INDEX fits in WIDTH pixels, or nil."
  (let* ((room (floor (- width 6) (* profd-flame--char-width profd-flame-font-size)))
         (label (profd-clean (aref (plist-get profd-flame--answer :labels)
                                   (profd-flame--column :name index)))))
    (cond ((< room 3) nil)
          ((<= (string-width label) room) label)
          (t (concat (truncate-string-to-width label (1- room)) "…")))))

(defun profd-flame--svg-box (index)
  "Box INDEX as SVG."
  (pcase-let* ((`(,x ,y ,width ,height) (profd-flame--rect index))
               (label (profd-flame--label index width)))
    (concat
     (format "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>\n"
             x y (max 0.5 (- width (if (> width 3) 1 0))) (1- height) (profd-flame--color index))
     (if label
         (format "<text x=\"%.2f\" y=\"%d\">%s</text>\n" (+ x 3)
                 (+ y (/ (+ height profd-flame-font-size) 2) -2) (profd-flame-escape label))
       ""))))

(defun profd-flame--svg-rest ()
  "What was joined, as SVG: hatched boxes."
  (let ((rest (plist-get profd-flame--answer :remainder))
        (scale (profd-flame--scale)))
    (mapconcat
     (lambda (i)
       (format "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"url(#rest)\"/>\n"
               (* scale (aref (plist-get rest :x) i))
               (* profd-flame-row-height (aref (plist-get rest :depth) i))
               (max 0.5 (* scale (aref (plist-get rest :width) i)))
               (1- profd-flame-row-height)))
     (number-sequence 0 (1- (length (plist-get rest :x)))) "")))

(defun profd-flame--height ()
  "Height of the picture in pixels."
  (* profd-flame-row-height (max 1 (plist-get profd-flame--answer :rows))))

(defun profd-flame-svg (&optional chosen)
  "The picture as SVG, with a frame around box CHOSEN."
  (let ((text (profd-heat-hex (if (profd-heat-dark-p) '(0.96 0.97 0.98) '(0.09 0.10 0.13)))))
    (unless profd-flame--picture
      (setq profd-flame--picture
            (concat
             ;; A style goes before that of Emacs, which has the font of texts.
             (format (concat "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
                             " style=\"font-family:'DejaVu Sans Mono',monospace;font-size:%dpx\""
                             " fill=\"%s\">\n")
                     profd-flame--width (profd-flame--height) profd-flame-font-size text)
             "<defs><pattern id=\"rest\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
             "<path d=\"M0 4L4 0\" stroke=\"#8a8f99\" stroke-width=\"1\"/></pattern></defs>\n"
             (profd-flame--svg-rest)
             (mapconcat #'profd-flame--svg-box (number-sequence 0 (1- (profd-flame--count))) ""))))
    (concat
     profd-flame--picture
     (if chosen
         (pcase-let ((`(,x ,y ,width ,height) (profd-flame--rect chosen)))
           (format "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n"
                   (1+ x) (1+ y) (max 1.0 (- width 3)) (- height 3) text))
       "")
     "</svg>\n")))

(defun profd-flame-map ()
  "The areas of the picture: boxes that can be pointed at, with what they are."
  (cl-loop for index below (profd-flame--count)
           for rect = (profd-flame--rect index)
           when (>= (nth 2 rect) 2)
           collect (pcase-let ((`(,x ,y ,width ,height) rect))
                     (list (cons 'rect (cons (cons (round x) y)
                                             (cons (round (+ x width)) (+ y height -1))))
                           'profd-box
                           (list 'help-echo (profd-help-text (profd-flame--describe index))
                                 'pointer 'hand)))))

(defun profd-flame--insert-picture ()
  "Insert the picture at point."
  (if (not (image-type-available-p 'svg))
      (insert "This Emacs shows no SVG; B opens the graph in the browser\n")
    (insert-image (create-image (encode-coding-string (profd-flame-svg profd-flame--chosen) 'utf-8)
                                'svg t :scale 1 :map (profd-flame-map))
                  "(flame graph)")
    (insert "\n")))

(defun profd-flame--heading ()
  "What stands above the picture."
  (let ((search (plist-get (plist-get profd-flame--answer :search) :text)))
    (apply #'profd-view-heading
           (format "%s, %s, %s" (profd-view-of profd-flame--answer)
                   (car (split-string profd-flame--shape " by "))
                   (plist-get (plist-get profd-flame--answer :zoomTotal) :text))
           (and profd-flame--zoom (concat "zoomed: " (mapconcat #'identity profd-flame--zoom " › ")
                                          "   (l goes back, 0 shows all)"))
           (profd-view-filter-note profd-flame--clauses)
           (and profd-flame--search (format "search: %s %s" profd-flame--search (or search "")))
           (profd-view-notes profd-flame--answer))))

(defun profd-flame--draw ()
  "Write the buffer."
  (let ((inhibit-read-only t))
    (erase-buffer)
    (insert (profd-flame--heading)
            (if profd-flame--chosen
                (concat (profd-flame--describe profd-flame--chosen) "\n")
              "Click or RET zooms, right click or o goes to the source, ? has more\n"))
    (profd-flame--insert-picture)
    (goto-char (point-min))))

(defun profd-flame--show (answer)
  "Show ANSWER."
  (setq profd-flame--answer answer
        profd-flame--picture nil
        profd-flame--chosen nil)
  (when (plist-get answer :zoomPath)
    ;; The box may be gone: what is shown then is the last one above it that is there.
    (setq profd-flame--zoom (seq-take profd-flame--zoom (length (plist-get answer :zoomPath)))))
  (profd-flame--draw))

(defun profd-flame--window-width ()
  "Pixels that the picture may be wide."
  (let ((window (get-buffer-window nil t)))
    (if window (max 300 (- (window-body-width window t) 2)) 800)))

(defun profd-flame--ask ()
  "Ask for the picture anew."
  (let ((buffer (current-buffer)))
    (setq profd-flame--width (profd-flame--window-width))
    (profd-session-clauses
     (lambda (clauses)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (setq profd-flame--clauses clauses)
           (profd-view-ask
            :view/flameGraph
            (append
             (list :profile profd-session-profile
                   :spec (profd-session-spec profd-flame--shape clauses)
                   :viewport (list :width profd-flame--width :minWidth 1
                                   :maxDepth profd-flame-max-rows :maxBoxes 3000)
                   :details t)
             (and profd-flame--zoom (list :zoom (list :names (vconcat profd-flame--zoom))))
             (and profd-flame--search (list :search profd-flame--search)))
            #'profd-flame--show)))))))

(defun profd-flame--resized (window)
  "Draw the picture anew when WINDOW has another width."
  (with-current-buffer (window-buffer window)
    (when (and profd-flame--answer (/= profd-flame--width (profd-flame--window-width)))
      (profd-flame--ask))))

;;;; Choosing and zooming

(defun profd-flame--choose (index)
  "Choose box INDEX, if there is one."
  (when (and index (>= index 0) (< index (profd-flame--count)))
    (setq profd-flame--chosen index)
    (profd-flame--draw)))

(defun profd-flame--beside (step)
  "The box STEP boxes further in the row of the chosen one."
  (let* ((here (or profd-flame--chosen 0))
         (depth (profd-flame--column :depth here))
         (row (seq-sort-by (lambda (index) (profd-flame--column :x index)) #'<
                           (seq-filter (lambda (index) (= depth (profd-flame--column :depth index)))
                                       (number-sequence 0 (1- (profd-flame--count)))))))
    (let ((at (+ step (or (seq-position row here) 0))))
      (and (>= at 0) (nth at row)))))

(defun profd-flame-next ()
  "Choose the box to the right."
  (interactive)
  (profd-flame--choose (profd-flame--beside 1)))

(defun profd-flame-previous ()
  "Choose the box to the left."
  (interactive)
  (profd-flame--choose (profd-flame--beside -1)))

(defun profd-flame-parent ()
  "Choose the box above."
  (interactive)
  (when profd-flame--chosen
    (profd-flame--choose (profd-flame--column :parent profd-flame--chosen))))

(defun profd-flame-child ()
  "Choose the widest box below."
  (interactive)
  (let ((here (or profd-flame--chosen 0)))
    (if (null profd-flame--chosen)
        (profd-flame--choose 0)
      (profd-flame--choose
       (car (seq-sort-by (lambda (index) (profd-flame--column :width index)) #'>
                         (seq-filter (lambda (index) (= here (profd-flame--column :parent index)))
                                     (number-sequence 0 (1- (profd-flame--count))))))))))

(defun profd-flame--zoom-to (names)
  "Let the box at the path NAMES fill the width."
  (unless (equal names profd-flame--zoom)
    (push profd-flame--zoom profd-flame--back)
    (setq profd-flame--zoom names)
    (profd-flame--ask)))

(defun profd-flame-zoom ()
  "Let the chosen box fill the width."
  (interactive)
  (if profd-flame--chosen
      (profd-flame--zoom-to (profd-flame--path profd-flame--chosen))
    (profd-flame--choose 0)))

(defun profd-flame-back ()
  "Go back to where the picture was zoomed to before."
  (interactive)
  (unless profd-flame--back
    (user-error "The picture was not zoomed before"))
  (setq profd-flame--zoom (pop profd-flame--back))
  (profd-flame--ask))

(defun profd-flame-reset ()
  "Show all of the picture."
  (interactive)
  (profd-flame--zoom-to nil))

(defun profd-flame--clicked (event)
  "The box that EVENT clicked on."
  (let* ((start (event-start event))
         (at (posn-object-x-y start)))
    (and (posn-image start) at (profd-flame-box-at (car at) (cdr at)))))

(defun profd-flame-mouse-zoom (event)
  "Zoom into the box that EVENT clicked on."
  (interactive "e")
  (with-current-buffer (window-buffer (posn-window (event-start event)))
    (when-let ((index (profd-flame--clicked event)))
      (profd-flame--zoom-to (profd-flame--path index)))))

(defun profd-flame-mouse-visit (event)
  "Go to the source of the box that EVENT clicked on."
  (interactive "e")
  (with-current-buffer (window-buffer (posn-window (event-start event)))
    (when-let ((index (profd-flame--clicked event)))
      (profd-flame--choose index)
      (profd-view-visit))))

(defun profd-flame-search (expression)
  "Show what matches EXPRESSION; an empty one ends the search."
  (interactive (list (read-string "Search (regular expression): " profd-flame--search)))
  (setq profd-flame--search (and (not (equal expression "")) expression))
  (profd-flame--ask))

(defun profd-flame-turn ()
  "From the roots down, or from the hot functions up."
  (interactive)
  (setq profd-flame--shape (if (string-prefix-p "top-down" profd-flame--shape)
                               "bottom-up by function"
                             "top-down by function")
        profd-flame--zoom nil
        profd-flame--back nil)
  (profd-flame--ask))

;;;; Commands

(defun profd-browse ()
  "Open the flame graph in the browser."
  (interactive)
  (profd-session-ensure)
  (let ((address (plist-get (profd-call :web/address
                                        (list :open (vector profd-session-uri)
                                              :view (profd-session-spec "top-down by function"
                                                                        profd-session-filters)))
                            :once)))
    (unless (string-match-p "\\`http://\\(127\\.0\\.0\\.1\\|localhost\\|\\[::1\\]\\):[0-9]+/" address)
      (error "The daemon gave an address that is not of this machine"))
    (browse-url address)))

(defun profd-flame ()
  "Show the flame graph: as a picture, or in the browser where Emacs shows none."
  (interactive)
  (profd-session-ensure)
  (if (not (and (display-images-p) (image-type-available-p 'svg)))
      (profd-browse)
    (with-current-buffer (profd-view-buffer "*profd flame*" 'profd-flame-mode)
      (profd-flame--ask))))

(provide 'profd-flame)
;;; profd-flame.el ends here
