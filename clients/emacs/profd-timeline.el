;;; profd-timeline.el --- When things ran  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The load of every thread over time, a line each.  A thread or a window
;; of time becomes a filter of all that is shown.

;;; Code:

(require 'seq)
(require 'profd-base)
(require 'profd-session)
(require 'profd-view)
(require 'profd-lists)

(defconst profd-timeline--name-width 24 "Columns of the names of threads.")
(defconst profd-timeline--margin (+ profd-timeline--name-width 22) "Columns before the load.")
(defconst profd-timeline--steps "▁▂▃▄▅▆▇█")

(defvar-local profd-timeline--span nil "What is looked at: FROM and TO in nanoseconds; nil is everything.")
(defvar-local profd-timeline--answer nil)

(defvar profd-timeline-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map profd-text-mode-map)
    (dolist (binding '(("RET" . profd-timeline-keep-thread) ("f" . profd-timeline-keep-thread)
                       ("W" . profd-timeline-keep-window)
                       ("+" . profd-timeline-closer) ("-" . profd-timeline-farther)
                       ("<" . profd-timeline-earlier) (">" . profd-timeline-later)
                       ("0" . profd-timeline-all)))
      (define-key map (kbd (car binding)) (cdr binding)))
    map)
  "Keys of the timeline.")

(define-derived-mode profd-timeline-mode profd-text-mode "profd"
  "Threads of a profile over time.
\\{profd-timeline-mode-map}")

(defun profd-timeline--bar (load full)
  "LOAD, numbers of columns, as text; FULL fills a line."
  (mapconcat (lambda (value)
               (if (<= value 0) " "
                 (let ((step (min 7 (floor (* 8 (/ (float value) (max full 1e-9)))))))
                   (substring profd-timeline--steps step (1+ step)))))
             load ""))

(defun profd-timeline--track (track full)
  "A line for TRACK, whose load fills a line at FULL."
  (let ((amount (plist-get track :amount)))
    (propertize
     (concat (propertize (string-pad (profd-fit (profd-clean (plist-get track :name)) profd-timeline--name-width)
                                     profd-timeline--name-width)
                         'face 'profd-name)
             (format " %10s %8s " (profd-clean (plist-get amount :text))
                     (profd-clean (plist-get track :loadText)))
             "│" (profd-timeline--bar (plist-get track :load) full) "│\n")
     'profd-row (list :clause (plist-get track :filter)))))

(defun profd-timeline--text (answer clauses)
  "ANSWER, a window of time through the filters CLAUSES, as text."
  (concat
   (apply #'profd-view-heading (concat (profd-view-of answer) ": " (plist-get answer :windowText))
          (profd-view-filter-note clauses)
          (plist-get answer :basis)
          (concat "█ is " (plist-get answer :fullText))
          (profd-view-notes answer))
   "\n"
   (if (= 0 (length (plist-get answer :tracks)))
       "Nothing of this profile is known to have run at a time\n"
     (mapconcat (lambda (track) (profd-timeline--track track (plist-get answer :full)))
                (plist-get answer :tracks) ""))
   (if-let ((left (plist-get (plist-get answer :left) :text)))
       (propertize (concat (profd-clean left) "\n") 'face 'profd-note)
     "")
   (propertize "\nRET keeps a thread, W the window; + - zoom, < > move, 0 is everything, u takes a filter back\n"
               'face 'profd-note)))

(defun profd-timeline--ask ()
  "Ask for the window of time anew."
  (let ((columns (max 16 (- (window-max-chars-per-line (get-buffer-window (current-buffer) t))
                            profd-timeline--margin 4))))
    (profd-view-through-filters
     (lambda (clauses)
       ;; Windows of time are looked at here, not cut out.
       (let ((others (seq-remove (lambda (clause) (string-prefix-p "time " clause)) clauses)))
         (profd-view-ask
          :view/timeline
          (append (list :profile profd-session-profile
                        :spec (profd-session-spec "top-down" others)
                        :width columns :columns columns :tracks profd-rows :charts [])
                  (and profd-timeline--span
                       (list :from (car profd-timeline--span) :to (cdr profd-timeline--span))))
          (lambda (answer)
            (setq profd-timeline--answer answer)
            (profd-view-write (profd-timeline--text answer clauses)))))))))

(defun profd-timeline--look (factor shift)
  "Look at FACTOR of the window, SHIFT of its length later."
  (unless profd-timeline--answer
    (user-error "The timeline is not there yet"))
  (let* ((from (plist-get profd-timeline--answer :from))
         (to (plist-get profd-timeline--answer :to))
         (begin (plist-get profd-timeline--answer :begin))
         (end (plist-get profd-timeline--answer :end))
         (length (min (max 1 (* factor (- to from))) (- end begin)))
         (middle (+ (/ (+ from to) 2.0) (* shift (- to from))))
         (start (max begin (min (- middle (/ length 2.0)) (- end length)))))
    (setq profd-timeline--span (cons (floor start) (ceiling (+ start length))))
    (profd-timeline--ask)))

(defun profd-timeline-closer ()
  "Look at the middle half of the window."
  (interactive)
  (profd-timeline--look 0.5 0))

(defun profd-timeline-farther ()
  "Look at twice the window."
  (interactive)
  (profd-timeline--look 2 0))

(defun profd-timeline-earlier ()
  "Look half a window earlier."
  (interactive)
  (profd-timeline--look 1 -0.5))

(defun profd-timeline-later ()
  "Look half a window later."
  (interactive)
  (profd-timeline--look 1 0.5))

(defun profd-timeline-all ()
  "Look at everything."
  (interactive)
  (setq profd-timeline--span nil)
  (profd-timeline--ask))

(defun profd-timeline-keep-window ()
  "Have everything be of the window that is shown."
  (interactive)
  (let ((clause (plist-get profd-timeline--answer :filter)))
    (unless clause
      (user-error "This window of time cannot be written as a filter"))
    (profd-session-filter clause)))

(defun profd-timeline-keep-thread ()
  "Have everything be of the thread at point."
  (interactive)
  (let ((clause (plist-get (profd-view-row) :clause)))
    (unless clause
      (user-error "No thread on this line"))
    (profd-session-filter clause)))

;;;###autoload
(defun profd-timeline ()
  "Show when threads ran."
  (interactive)
  (profd-session-ensure)
  (with-current-buffer (profd-view-buffer "*profd timeline*" 'profd-timeline-mode)
    (setq profd-view-refresh-function #'profd-timeline--ask
          profd-timeline--span nil)
    (profd-timeline--ask)))

(provide 'profd-timeline)
;;; profd-timeline.el ends here
