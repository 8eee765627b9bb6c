;;; profd-flame-picture.el --- A layout of profd as pictures  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; What the daemon laid out as boxes, as lines with an SVG image each.
;; Images of the whole height of a graph cannot be scrolled well; a line
;; can, and one is drawn anew without the others.

;;; Code:

(require 'cl-lib)
(require 'image)
(require 'seq)
(require 'profd-base)
(require 'profd-heat)

(defcustom profd-flame-row-height 18
  "Pixels of a row."
  :type 'natnum
  :group 'profd-flame)

(defcustom profd-flame-font-size 12
  "Pixels of the text in boxes."
  :type 'natnum
  :group 'profd-flame)

(defconst profd-flame--char-width 0.62
  "Width of a character beside its height, for how much of a name fits.")

(defvar-local profd-flame--answer nil)
(defvar-local profd-flame--zoom nil "Names from the root to the box that fills the width.")
(defvar-local profd-flame--search nil)
(defvar-local profd-flame--chosen nil "Index of the box that is chosen.")
(defvar-local profd-flame--width 800)
(defvar-local profd-flame--boxes [] "Indexes of the boxes of each row.")
(defvar-local profd-flame--rows [] "The rows as lines, without the frame of the chosen box.")
(defvar-local profd-flame--colors nil "What the colours of the picture depend on.")

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

(defun profd-flame--span (index)
  "Left and width of box INDEX in pixels."
  (let ((scale (profd-flame--scale)))
    (list (* scale (profd-flame--column :x index))
          (* scale (profd-flame--column :width index)))))

(defun profd-flame-box-at (x depth)
  "Index of the box at the pixel X of row DEPTH, or nil."
  (seq-find (lambda (index)
              (pcase-let ((`(,left ,width) (profd-flame--span index)))
                (and (<= left x) (< x (+ left width)))))
            (and (< depth (length profd-flame--boxes)) (aref profd-flame--boxes depth))))

(defun profd-flame--sort-boxes ()
  "Find the boxes of each row, from left to right."
  (setq profd-flame--boxes (make-vector (max 1 (plist-get profd-flame--answer :rows)) nil)
        profd-flame--rows (make-vector (length profd-flame--boxes) nil))
  (dotimes (index (profd-flame--count))
    (push index (aref profd-flame--boxes (profd-flame--column :depth index))))
  (dotimes (depth (length profd-flame--boxes))
    (aset profd-flame--boxes depth
          (seq-sort-by (lambda (index) (profd-flame--column :x index)) #'<
                       (aref profd-flame--boxes depth)))))

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
  "Box INDEX as SVG, in the picture of its row."
  (pcase-let* ((`(,x ,width) (profd-flame--span index))
               (height profd-flame-row-height)
               (label (profd-flame--label index width)))
    (concat
     (format "<rect x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\" fill=\"%s\"%s/>\n"
             x (max 0.5 (- width (if (> width 3) 1 0))) (1- height) (profd-flame--color index)
             ;; Above what is zoomed into there is no more than the way to it.
             (if (< (profd-flame--column :depth index) (length profd-flame--zoom)) " fill-opacity=\"0.45\"" ""))
     (if label
         (format "<text x=\"%.2f\" y=\"%d\">%s</text>\n" (+ x 3)
                 (- (/ (+ height profd-flame-font-size) 2) 2) (profd-flame-escape label))
       ""))))

(defun profd-flame--svg-rest (depth)
  "What was joined in row DEPTH, as SVG: hatched boxes."
  (let ((rest (plist-get profd-flame--answer :remainder))
        (scale (profd-flame--scale)))
    (mapconcat
     (lambda (i)
       (if (/= depth (aref (plist-get rest :depth) i)) ""
         (format "<rect x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\" fill=\"url(#rest)\"/>\n"
                 (* scale (aref (plist-get rest :x) i))
                 (max 0.5 (* scale (aref (plist-get rest :width) i)))
                 (1- profd-flame-row-height))))
     (number-sequence 0 (1- (length (plist-get rest :x)))) "")))

(defun profd-flame--text-color ()
  "The colour of texts in boxes."
  (if (profd-heat-dark-p) "#f5f7fa" "#171a21"))

(defun profd-flame-svg (depth)
  "Row DEPTH as SVG, with a frame around the chosen box where it is in it."
  (concat
   ;; A style goes before that of Emacs, which has the font of texts.
   (format (concat "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
                   " style=\"font-family:'DejaVu Sans Mono',monospace;font-size:%dpx\" fill=\"%s\">\n")
           profd-flame--width profd-flame-row-height profd-flame-font-size (profd-flame--text-color))
   "<defs><pattern id=\"rest\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
   "<path d=\"M0 4L4 0\" stroke=\"#8a8f99\" stroke-width=\"1\"/></pattern></defs>\n"
   (profd-flame--svg-rest depth)
   (mapconcat #'profd-flame--svg-box (aref profd-flame--boxes depth) "")
   (if (profd-flame--chosen-in-p depth)
       (pcase-let ((`(,x ,width) (profd-flame--span profd-flame--chosen)))
         (format "<rect x=\"%.2f\" y=\"1\" width=\"%.2f\" height=\"%d\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n"
                 (1+ x) (max 1.0 (- width 3)) (- profd-flame-row-height 3) (profd-flame--text-color)))
     "")
   "</svg>\n"))

(defun profd-flame--chosen-in-p (depth)
  "Whether the chosen box is in row DEPTH."
  (and profd-flame--chosen (= depth (profd-flame--column :depth profd-flame--chosen))))

(defun profd-flame-map (depth)
  "The areas of row DEPTH: boxes that can be pointed at, with what they are."
  (cl-loop for index in (aref profd-flame--boxes depth)
           for span = (profd-flame--span index)
           when (>= (nth 1 span) 2)
           collect (pcase-let ((`(,x ,width) span))
                     (list (cons 'rect (cons (cons (round x) 0)
                                             (cons (round (+ x width)) (1- profd-flame-row-height))))
                           'profd-box
                           (list 'help-echo (profd-help-text (profd-flame--describe index))
                                 'pointer 'hand)))))

(defun profd-flame--row-line (depth)
  "Row DEPTH as a line."
  (concat (propertize " " 'profd-depth depth
                      'display (create-image (encode-coding-string (profd-flame-svg depth) 'utf-8)
                                             'svg t :scale 1 :ascent 'center :map (profd-flame-map depth)))
          (propertize "\n" 'line-height t)))

(defun profd-flame--picture ()
  "The rows as lines."
  (if (not (image-type-available-p 'svg))
      "This Emacs shows no SVG; B opens the graph in the browser\n"
    (unless (equal profd-flame--colors (profd-heat-key))
      (setq profd-flame--colors (profd-heat-key))
      (fillarray profd-flame--rows nil))
    (mapconcat (lambda (depth)
                 (cond ((profd-flame--chosen-in-p depth) (profd-flame--row-line depth))
                       ((aref profd-flame--rows depth))
                       (t (aset profd-flame--rows depth (profd-flame--row-line depth)))))
               (number-sequence 0 (1- (length profd-flame--boxes))) "")))

(provide 'profd-flame-picture)
;;; profd-flame-picture.el ends here
