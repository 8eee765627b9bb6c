;;; profd-flame.el --- Flame graphs as pictures  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A flame graph as SVG images: the mouse and the keys choose boxes,
;; zoom into them and go to their source.  Where Emacs shows no images
;; the graph opens in the browser.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'browse-url)
(require 'profd-base)
(require 'profd-session)
(require 'profd-heat)
(require 'profd-view)
(require 'profd-flame-picture)

(defcustom profd-flame-max-rows 120
  "Rows of the picture at most; zooming in shows what is below."
  :type 'natnum
  :group 'profd-flame)

(defvar-local profd-flame--shape "top-down by function")
(defvar-local profd-flame--clauses nil)
(defvar-local profd-flame--back nil "Where the picture was zoomed to before, the last one first.")

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
    ;; What else is done with the mouse there is as anywhere: the wheel scrolls.
    (define-key map [profd-box t] #'profd-flame-mouse-other)
    map)
  "Keys of flame graphs.")

(define-derived-mode profd-flame-mode special-mode "profd-flame"
  "A flame graph.
\\{profd-flame-mode-map}"
  (profd-view-set-up #'profd-flame--ask #'profd-flame--row)
  (setq cursor-type nil
        line-spacing 0)
  (add-hook 'window-size-change-functions #'profd-flame--fit nil t)
  ;; A theme is chosen in the minibuffer, or in another window.
  (add-hook 'window-selection-change-functions #'profd-flame--fit nil t))

;;;; The buffer

(defun profd-flame--zoom-note ()
  "Where the picture is zoomed to, in the width of the window, or nil."
  (when profd-flame--zoom
    (let ((keys "   (l goes back, 0 shows all)")
          (window (get-buffer-window nil t)))
      (concat (profd-fit (concat "zoomed: " (profd-clean (string-join profd-flame--zoom " › ")))
                         (max 20 (- (if window (window-max-chars-per-line window) 80) (length keys))))
              keys))))

(defun profd-flame--search-note ()
  "What is searched and how much of it there is, or nil."
  (when profd-flame--search
    (let* ((search (plist-get profd-flame--answer :search))
           (amount (plist-get search :amount))
           (names (plist-get search :names)))
      (format "search: %s: %s · %s in %s function%s   (/ RET ends it)" profd-flame--search
              (or (plist-get amount :text) "?") (or (plist-get amount :shareText) "?")
              (or names "?") (if (eql names 1) "" "s")))))

(defun profd-flame--heading ()
  "What stands above the picture."
  (apply #'profd-view-heading
         (format "%s, %s, %s" (profd-view-of profd-flame--answer)
                 (car (split-string profd-flame--shape " by "))
                 (plist-get (plist-get profd-flame--answer :zoomTotal) :text))
         (profd-flame--zoom-note)
         (profd-view-filter-note profd-flame--clauses)
         (profd-flame--search-note)
         (profd-view-notes profd-flame--answer)))

(defun profd-flame--draw ()
  "Write the buffer."
  (profd-view-write
   (concat (profd-flame--heading)
           (if profd-flame--chosen
               (concat (profd-flame--describe profd-flame--chosen) "\n")
             (propertize "Click or RET zooms, right click or o goes to the source, ? has more\n"
                         'face 'profd-note))
           (profd-flame--picture)))
  (when profd-flame--chosen
    (profd-flame--look-at (profd-flame--column :depth profd-flame--chosen))))

(defun profd-flame--look-at (depth)
  "Have row DEPTH on the screen."
  (when-let ((at (if (= depth 0) (point-min)
                   (text-property-any (point-min) (point-max) 'profd-depth depth))))
    (goto-char at)
    (dolist (window (get-buffer-window-list nil nil t))
      (set-window-point window at))))

(defun profd-flame--show (answer)
  "Show ANSWER."
  (setq profd-flame--answer answer
        profd-flame--chosen nil)
  (profd-flame--sort-boxes)
  (when (plist-get answer :zoomPath)
    ;; The box may be gone: what is shown then is the last one above it that is there.
    (setq profd-flame--zoom (seq-take profd-flame--zoom (length (plist-get answer :zoomPath)))))
  (profd-flame--draw)
  (profd-flame--look-at (length profd-flame--zoom)))

(defun profd-flame--window-width ()
  "Pixels that the picture may be wide."
  (let ((window (get-buffer-window nil t)))
    (if window (max 300 (- (window-body-width window t) 2)) 800)))

(defun profd-flame--ask ()
  "Ask for the picture anew."
  (setq profd-flame--width (profd-flame--window-width))
  (profd-view-through-filters
   (lambda (clauses)
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
      #'profd-flame--show))))

(defun profd-flame--fit (window)
  "Draw the picture anew when WINDOW has another width, or the theme other colours."
  (with-current-buffer (window-buffer window)
    (cond
     ((null profd-flame--answer))
     ((/= profd-flame--width (profd-flame--window-width)) (profd-flame--ask))
     ((not (equal profd-flame--colors (profd-heat-key))) (profd-flame--draw)))))

;;;; Choosing and zooming

(defun profd-flame--choose (index)
  "Choose box INDEX, if there is one."
  (when (and index (>= index 0) (< index (profd-flame--count)))
    (setq profd-flame--chosen index)
    (profd-flame--draw)))

(defun profd-flame--beside (step)
  "The box STEP boxes further in the row of the chosen one."
  (let* ((here (or profd-flame--chosen 0))
         (row (aref profd-flame--boxes (profd-flame--column :depth here)))
         (at (+ step (or (seq-position row here) 0))))
    (and (>= at 0) (nth at row))))

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
         (at (posn-object-x-y start))
         (depth (and (posn-point start) (get-text-property (posn-point start) 'profd-depth))))
    (and (posn-image start) at depth (profd-flame-box-at (car at) depth))))

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

(defun profd-flame-mouse-other (event)
  "Do what EVENT does anywhere else."
  (interactive "e")
  (let ((command (and (consp event) (not (memq 'down (event-modifiers event)))
                      (key-binding (vector (event-basic-type event))))))
    (when (memq command '(mwheel-scroll pixel-scroll-precision))
      (funcall command event))))

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
    (browse-url address)
    ;; A browser may be on another machine than a terminal is.
    (unless (display-graphic-p)
      (message "profd: the browser shows %s" (profd-clean address)))))

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
