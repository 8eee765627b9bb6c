;;; profd-annotate.el --- What lines cost, at their ends  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Hints at the end of lines as overlays.  The daemon says which lines
;; speak and what they say; overlays move with the text at once, and the
;; daemon then says what became stale.

;;; Code:

(require 'seq)
(require 'profd-base)
(require 'profd-rpc)
(require 'profd-sync)
(require 'profd-session)
(require 'profd-heat)

(defcustom profd-heat t
  "Whether hints are coloured by cost."
  :type 'boolean
  :group 'profd-hints)

(defcustom profd-align t
  "Whether the hints of a file start in one column."
  :type 'boolean
  :group 'profd-hints)

(defcustom profd-align-max 78
  "The column where hints start is never further right than this."
  :type 'natnum
  :group 'profd-hints)

(defconst profd-annotate--modified -32801
  "The code of an answer that came too late: the profile was replaced.")

(defvar profd-annotate-enabled t "Whether hints are shown at all.")

(defvar-local profd-annotate--overlays nil)
(defvar-local profd-annotate--asked 0 "Counts requests: only the newest answer is painted.")
;; Another major mode does not forget it: an older answer would be taken for the newest.
(put 'profd-annotate--asked 'permanent-local t)
(defvar-local profd-annotate--of nil "What the hints on the screen are of.")
(defvar-local profd-annotate--colors nil "What the colours on the screen depend on.")
(defvar-local profd-annotate--width nil "The width that the hints were made to fit.")

(defun profd-annotate--wanted ()
  "What hints would be of if they were asked for now."
  (list profd-rpc--connection profd-session-profile profd-session-revision profd-session-filters))

(defun profd-annotate-clear ()
  "Take the hints off the current buffer."
  (mapc #'delete-overlay profd-annotate--overlays)
  (setq profd-annotate--overlays nil))

(defun profd-annotate--face (overlay)
  "The face of the hint of OVERLAY."
  (let ((heat (overlay-get overlay 'profd-heat))
        (strength (overlay-get overlay 'profd-strength)))
    (cond
     ((and (overlay-get overlay 'profd-stale) (not strength)) 'profd-stale)
     ((not profd-heat) 'profd-hint)
     ((null strength) (profd-heat-face heat))
     ((= strength 0) 'profd-hint)
     (t (profd-heat-face (abs strength) nil (< strength 0))))))

(defun profd-annotate--share-width (text)
  "Columns of TEXT up to its first per cent sign."
  (let ((stop (string-search "%" text)))
    (if stop (string-width (substring text 0 (1+ stop))) 0)))

(defun profd-annotate-shorten (text room)
  "What of TEXT fits in ROOM columns: all, up to its value, or its share."
  (let ((forms (list text
                     (replace-regexp-in-string " · .*\\'" "" text)
                     (if (string-match "\\`[^%]*%" text) (match-string 0 text) text))))
    (or (seq-find (lambda (form) (<= (string-width form) room)) forms)
        (car (last forms)))))

(defun profd-annotate--columns ()
  "Columns of the narrowest window that shows the current buffer."
  (let ((windows (get-buffer-window-list nil nil t)))
    (if windows (apply #'min (mapcar #'window-max-chars-per-line windows)) 80)))

(defun profd-annotate--line-width (overlay)
  "Columns of the line of OVERLAY."
  (save-excursion
    (goto-char (overlay-start overlay))
    (if (> (- (line-end-position) (line-beginning-position)) 1000)
        1000
      (end-of-line)
      (current-column))))

(defun profd-annotate--dress ()
  "Make the hints of the current buffer fit its windows and the theme."
  (let* ((faces (make-hash-table :test #'equal))
         (overlays (setq profd-annotate--overlays (seq-filter #'overlay-buffer profd-annotate--overlays)))
         (widest (apply #'max 0 (mapcar (lambda (overlay)
                                          (profd-annotate--share-width (overlay-get overlay 'profd-text)))
                                        overlays)))
         (columns (profd-annotate--columns))
         (widths (mapcar #'profd-annotate--line-width overlays))
         (column (apply #'max 0 (seq-filter (lambda (width) (<= width profd-align-max)) widths))))
    (setq profd-annotate--colors (profd-heat-key)
          profd-annotate--width columns)
    (seq-mapn
     (lambda (overlay width)
       (let* ((text (overlay-get overlay 'profd-text))
              (share (profd-annotate--share-width text))
              (padded (concat " " (make-string (if (> share 0) (- widest share) 0) ?\s) text " "))
              (used (if (> width columns) (mod width columns) width))
              (shown (profd-annotate-shorten padded (- columns used 3)))
              (gap (if profd-align (max 2 (- (+ column 2) width)) 2))
              (gap (max 2 (min gap (- columns used (string-width shown) 1))))
              (key (list (overlay-get overlay 'profd-heat) (overlay-get overlay 'profd-strength)
                         (overlay-get overlay 'profd-stale)))
              (face (or (gethash key faces)
                        (puthash key (profd-annotate--face overlay) faces))))
         (overlay-put overlay 'profd-length (- (overlay-end overlay) (overlay-start overlay)))
         (profd-annotate--write overlay gap shown face)))
     overlays widths)))

(defun profd-annotate--write (overlay gap shown face)
  "Have SHOWN stand GAP columns behind the line of OVERLAY, in FACE."
  (let ((look (list gap shown face)))
    ;; Where it is as it was Emacs need not draw the line again.
    (unless (equal look (overlay-get overlay 'profd-look))
      (overlay-put overlay 'profd-look look)
      (overlay-put overlay 'after-string
                   (concat (propertize " " 'cursor t 'face 'default)
                           (propertize (make-string (1- gap) ?\s) 'face 'default)
                           (propertize shown 'face face))))))

(defconst profd-annotate--properties
  '(profd-said profd-heat profd-strength profd-stale)
  "What an overlay remembers of its line.")

(defun profd-annotate--values (lines i)
  "Of row I of LINES what an overlay remembers."
  (let ((strengths (plist-get lines :strength)))
    (list (aref (plist-get lines :text) i)
          (aref (plist-get lines :heat) i)
          (and strengths (aref strengths i))
          (eq t (aref (plist-get lines :stale) i)))))

(defun profd-annotate--remember (overlay values)
  "Have OVERLAY remember VALUES."
  (seq-mapn (lambda (property value) (overlay-put overlay property value))
            profd-annotate--properties values)
  (overlay-put overlay 'profd-text (profd-clean (car values))))

(defun profd-annotate--overlay (old)
  "An overlay on the line of point: OLD, where that is one, else a new one."
  (if (and old (eql (point) (overlay-start old)))
      (progn (unless (eql (overlay-end old) (line-end-position))
               (move-overlay old (point) (line-end-position)))
             old)
    (let ((overlay (make-overlay (point) (line-end-position) nil nil t)))
      (overlay-put overlay 'profd t)
      (overlay-put overlay 'evaporate t)
      (overlay-put overlay 'priority -50)
      overlay)))

(defun profd-annotate--paint (lines)
  "Put LINES, the columns of an answer, into the current buffer.
What stands there already is kept."
  (let ((old profd-annotate--overlays)
        (at 0)
        painted changed)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (dotimes (i (length (plist-get lines :text)))
          (let ((line (aref (plist-get lines :line) i)))
            (when (and (= 0 (forward-line (- line at))) (not (eobp)))
              (setq at line)
              (unless (eolp)
                (while (and old (not (and (overlay-start (car old)) (>= (overlay-start (car old)) (point)))))
                  (delete-overlay (pop old)))
                (let* ((known (car old))
                       (overlay (profd-annotate--overlay known))
                       (values (profd-annotate--values lines i)))
                  (if (eq overlay known)
                      (pop old)
                    (setq changed t))
                  (unless (and (eq overlay known)
                               (equal values (mapcar (lambda (property) (overlay-get overlay property))
                                                     profd-annotate--properties)))
                    (profd-annotate--remember overlay values)
                    (setq changed t))
                  (push overlay painted))))))
        (when old
          (setq changed t)
          (mapc #'delete-overlay old))
        (setq profd-annotate--overlays (nreverse painted))
        (when (or changed
                  (not (equal profd-annotate--width (profd-annotate--columns)))
                  (not (equal profd-annotate--colors (profd-heat-key)))
                  ;; Columns of lines are counted where lines have another length alone.
                  (seq-some (lambda (overlay)
                              (not (eql (overlay-get overlay 'profd-length)
                                        (- (overlay-end overlay) (overlay-start overlay)))))
                            profd-annotate--overlays))
          (profd-annotate--dress))))))

(defun profd-annotate--answered (buffer asked of result)
  "Paint RESULT in BUFFER when it is of request ASKED; it is OF what was wanted."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (and (= asked profd-annotate--asked) profd-annotate-enabled profd-session-profile)
        (setq profd-annotate--of of
              profd-session-metric (plist-get result :metric))
        (profd-annotate--paint (plist-get result :lines))
        (force-mode-line-update)))))

(defun profd-annotate--ask (retries)
  "Ask for the hints of the current buffer, again RETRIES times at most."
  (let ((buffer (current-buffer))
        (asked (setq profd-annotate--asked (1+ profd-annotate--asked)))
        (of (profd-annotate--wanted)))
    (profd-request
     :source/annotations
     (append (list :profile profd-session-profile :textDocument (profd-sync-document))
             (and (numberp profd-threshold) (list :threshold profd-threshold)))
     (lambda (result) (profd-annotate--answered buffer asked of result))
     (lambda (text code)
       (profd-log-add text)
       (when (and (buffer-live-p buffer) (eql code profd-annotate--modified) (> retries 0))
         (with-current-buffer buffer
           (when (= asked profd-annotate--asked)
             (profd-annotate--ask (1- retries)))))))))

(defvar profd-mode)

(defun profd-annotate-refresh (&optional buffer)
  "Ask for the hints of BUFFER, or of the current one, when it is on the screen."
  (with-current-buffer (or buffer (current-buffer))
    (when (and (bound-and-true-p profd-mode) (profd-source-p))
      (cond
       ((not (and profd-annotate-enabled profd-session-profile (profd-rpc-live-p)))
        (setq profd-annotate--asked (1+ profd-annotate--asked)
              profd-annotate--of nil)
        (profd-annotate-clear))
       ((and (get-buffer-window nil t) (profd-sync-attach))
        (profd-annotate--ask 2))))))

(defun profd-annotate-entered (&rest _)
  "The buffer came to the screen, or its window changed."
  (dolist (window (window-list nil 'no-minibuffer))
    (with-current-buffer (window-buffer window)
      (when (and (bound-and-true-p profd-mode) (profd-rpc-live-p) profd-session-profile
                 profd-annotate-enabled)
        (cond
         ((not (and (profd-sync-attached-p)
                    (equal profd-annotate--of (profd-annotate--wanted))))
          ;; One request is enough while its answer is on its way.
          (unless (equal profd-annotate--of (cons 'asked (profd-annotate--wanted)))
            (setq profd-annotate--of (cons 'asked (profd-annotate--wanted)))
            (profd-annotate-refresh)))
         ((not (and (equal profd-annotate--width (profd-annotate--columns))
                    (equal profd-annotate--colors (profd-heat-key))))
          (profd-annotate--dress)))))))

(defun profd-annotate-all ()
  "Ask again for every buffer on the screen; the others when they come to it."
  (dolist (buffer (buffer-list))
    (when (buffer-local-value 'profd-mode buffer)
      (with-current-buffer buffer
        (setq profd-annotate--of nil)
        (profd-annotate-refresh)))))

(defun profd-annotate-toggle ()
  "Take the hints off the code, or bring them back."
  (interactive)
  (setq profd-annotate-enabled (not profd-annotate-enabled))
  (when profd-annotate-enabled
    (profd-session-ensure))
  (profd-annotate-all)
  (profd-say (if profd-annotate-enabled "hints are shown" "hints are off")))

(defun profd-annotate--opened ()
  "A profile was opened: show what it says."
  (setq profd-annotate-enabled t))

(add-hook 'profd-session-opened-hook #'profd-annotate--opened)
(add-hook 'profd-session-changed-hook #'profd-annotate-all)
(add-hook 'profd-sync-sent-functions #'profd-annotate-refresh)

(provide 'profd-annotate)
;;; profd-annotate.el ends here
