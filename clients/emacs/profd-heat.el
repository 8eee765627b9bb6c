;;; profd-heat.el --- Colours of profd  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Heat is one hue over the background of the theme, the stronger the
;; hotter; texts on it stay readable.  Boxes have a hue by where their
;; code is.

;;; Code:

(require 'cl-lib)
(require 'color)
(require 'seq)
(require 'profd-base)

(defcustom profd-heat-color "#f0643c"
  "The one hue of heat; in a comparison of what costs more."
  :type 'color
  :group 'profd-hints)

(defcustom profd-less-color "#3b8eea"
  "In a comparison the hue of what costs less."
  :type 'color
  :group 'profd-hints)

(defun profd-heat-rgb (name)
  "The colour NAME as three numbers from 0 to 1, or nil.
What `#rrggbb' says is taken as it is, whatever the terminal can show."
  (cond
   ((not (stringp name)) nil)
   ((string-match "\\`#\\([[:xdigit:]]\\{2\\}\\)\\([[:xdigit:]]\\{2\\}\\)\\([[:xdigit:]]\\{2\\}\\)\\'" name)
    (mapcar (lambda (group) (/ (string-to-number (match-string group name) 16) 255.0)) '(1 2 3)))
   ((string-prefix-p "unspecified" name) nil)
   (t (color-name-to-rgb name))))

(defun profd-heat-hex (rgb)
  "RGB as `#rrggbb'."
  (apply #'format "#%02x%02x%02x"
         (mapcar (lambda (part) (round (* 255 (min 1.0 (max 0.0 part))))) rgb)))

(defun profd-heat-blend (base over opacity)
  "OVER with OPACITY on BASE."
  (cl-mapcar (lambda (a b) (+ a (* (- b a) opacity))) base over))

(defun profd-heat-luminance (rgb)
  "Relative luminance of RGB, as WCAG defines it."
  (cl-reduce #'+ (cl-mapcar (lambda (part weight)
                              (* weight (if (<= part 0.03928)
                                            (/ part 12.92)
                                          (expt (/ (+ part 0.055) 1.055) 2.4))))
                            rgb '(0.2126 0.7152 0.0722))))

(defun profd-heat-contrast (a b)
  "Contrast ratio of A and B, 1 to 21."
  (let ((x (profd-heat-luminance a))
        (y (profd-heat-luminance b)))
    (/ (+ (max x y) 0.05) (+ (min x y) 0.05))))

(defun profd-heat-readable (color background ratio)
  "COLOR, moved towards black or white until it has RATIO on BACKGROUND."
  (let* ((white '(1.0 1.0 1.0))
         (black '(0.0 0.0 0.0))
         (goal (if (> (profd-heat-contrast white background) (profd-heat-contrast black background))
                   white black)))
    (or (cl-loop for step from 0 to 10
                 for moved = (profd-heat-blend color goal (/ step 10.0))
                 when (>= (profd-heat-contrast moved background) ratio) return moved)
        goal)))

(defun profd-heat-dark-p ()
  "Whether the background is dark, as the user or the frame says."
  (eq (or frame-background-mode (frame-parameter nil 'background-mode)) 'dark))

(defun profd-heat-background ()
  "The background of texts."
  (or (profd-heat-rgb (face-background 'default nil t))
      (if (profd-heat-dark-p) '(0.08 0.09 0.11) '(1.0 1.0 1.0))))

(defun profd-heat-foreground ()
  "The colour of texts."
  (or (profd-heat-rgb (face-foreground 'default nil t))
      (if (profd-heat-dark-p) '(0.88 0.89 0.92) '(0.08 0.09 0.11))))

(defun profd-heat-key ()
  "What the colours depend on."
  (list profd-heat-color profd-less-color (face-background 'default nil t)
        (face-foreground 'default nil t) (profd-heat-dark-p) (display-color-cells)))

(defconst profd-heat--steps [0 95 135 175 215 255]
  "Parts of the colours that a terminal of 256 colours has.")

(defun profd-heat--near (rgb)
  "RGB, or what a terminal of 256 colours has that is nearest to it."
  (if (/= 256 (display-color-cells))
      rgb
    (let* ((steps (append profd-heat--steps nil))
           (most (apply #'max rgb))
           (near (lambda (part below)
                   (car (seq-sort-by (lambda (step) (abs (- step (* 255 part)))) #'<
                                     (seq-filter (lambda (step) (< step below)) steps)))))
           (top (funcall near most 256)))
      (mapcar (lambda (part)
                ;; What is less stays less, so that the hue stays.
                (/ (funcall near part (if (< part (- most 0.03)) (max 1 top) 256)) 255.0))
              rgb))))

(defun profd-heat-face (heat &optional base less)
  "A face for HEAT, 0 to 1, over the face BASE; with LESS in the other hue."
  (let ((base (or base 'profd-hint))
        (hue (profd-heat-rgb (if less profd-less-color profd-heat-color))))
    (cond
     ((null hue) base)
     ;; A few colours are no scale: the hot ones are bold.
     ((< (display-color-cells) 88) (if (> heat 0.5) (list 'bold base) base))
     (t
      (let* ((bg (profd-heat-background))
             (fg (profd-heat-foreground))
             ;; Few steps, so that few faces are made.
             (heat (/ (fceiling (* 10.0 (min 1.0 (max 0.0 heat)))) 10.0))
             (behind (profd-heat--near (profd-heat-blend bg hue (+ 0.05 (* 0.5 heat)))))
             (text (profd-heat-blend (profd-heat-blend fg bg 0.35) fg heat)))
        ;; What is inherited comes first: it would replace what stands before it.
        (list :inherit base
              :background (profd-heat-hex behind)
              :foreground (profd-heat-hex (profd-heat-readable text behind 4.5))))))))

(defun profd-heat-oklch (lightness chroma hue)
  "The colour of LIGHTNESS, CHROMA and HUE in degrees."
  (let* ((a (* chroma (cos (degrees-to-radians hue))))
         (b (* chroma (sin (degrees-to-radians hue))))
         (l (expt (+ lightness (* 0.3963377774 a) (* 0.2158037573 b)) 3))
         (m (expt (- lightness (* 0.1055613458 a) (* 0.0638541728 b)) 3))
         (s (expt (- lightness (* 0.0894841775 a) (* 1.291485548 b)) 3)))
    (mapcar (lambda (part)
              (let ((c (min 1.0 (max 0.0 part))))
                (if (<= c 0.0031308) (* 12.92 c) (- (* 1.055 (expt c (/ 1 2.4))) 0.055))))
            (list (+ (* 4.0767416621 l) (* -3.3077115913 m) (* 0.2309699292 s))
                  (+ (* -1.2684380046 l) (* 2.6097574011 m) (* -0.3413193965 s))
                  (+ (* -0.0041960863 l) (* -0.7034186147 m) (* 1.707614701 s))))))

(defconst profd-heat--hues [255 45 165 330 95 205 15 285 130 70 230 305]
  "Hues of boxes, in an order in which neighbours are far apart.")

(defun profd-heat--hash (text)
  "A number of 32 bits for TEXT, the same in every session."
  (let ((hash #x811c9dc5))
    (mapc (lambda (char)
            (setq hash (logand #xffffffff (* (logxor hash char) #x01000193))))
          text)
    (setq hash (logand #xffffffff (* (logxor hash (ash hash -15)) #x2c1b3c6d)))
    (logxor hash (ash hash -13))))

(defun profd-heat-box (group name)
  "The colour of a box of GROUP, a text or nil, that is called NAME."
  (let* ((dark (profd-heat-dark-p))
         (shade (mod (profd-heat--hash name) 4))
         (lightness (- (if dark 0.5 0.87) (* 0.028 shade (if dark 0.9 1)))))
    (profd-heat-hex
     (if group
         (profd-heat-oklch lightness 0.085
                           (aref profd-heat--hues
                                 (mod (profd-heat--hash group) (length profd-heat--hues))))
       (profd-heat-oklch lightness 0.012 255)))))

(defun profd-heat-change (strength)
  "The colour of a box of a comparison, of STRENGTH -1 less to 1 more."
  (profd-heat-hex
   (profd-heat-blend (if (profd-heat-dark-p) '(0.27 0.28 0.30) '(0.90 0.90 0.91))
                     (profd-heat-rgb (if (< strength 0) profd-less-color profd-heat-color))
                     (* (if (profd-heat-dark-p) 0.75 0.85) (min 1.0 (abs strength))))))

(provide 'profd-heat)
;;; profd-heat.el ends here
