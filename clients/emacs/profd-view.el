;;; profd-view.el --- What the lists of profd have in common  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A row is a plist: `:name', `:file' and `:line' as the profile says,
;; `:uri' of the file in the workspace, `:outside' a file elsewhere on
;; this machine.  Each list says which row is at point; the keys here act
;; on that row.

;;; Code:

(require 'seq)
(require 'tabulated-list)
(require 'profd-base)
(require 'profd-session)

(defvar-local profd-view-row-function #'profd-view--row-of-list
  "Gives the row at point.")

(defvar-local profd-view-refresh-function nil
  "Asks for what the buffer shows anew.")

(defvar-local profd-view--asked 0 "Counts requests: only the newest answer is shown.")

(defvar profd-view--allowed nil "Folders outside the workspace that may be opened.")

(declare-function profd-hotspots "profd-lists")
(declare-function profd-tree "profd-tree")
(declare-function profd-callers-of "profd-tree")
(declare-function profd-callees-of "profd-tree")
(declare-function profd-within-function "profd-report")
(declare-function profd-report "profd-report")
(declare-function profd-flame "profd-flame")
(declare-function profd-metric "profd")
(declare-function profd-select "profd")
(declare-function profd-menu "profd-menu")
(declare-function profd-browse "profd-flame")
(declare-function profd-assembly "profd-assembly")
(declare-function profd-timeline "profd-timeline")
(declare-function profd-sets "profd-sets")
(declare-function profd-analyse "profd-analyse")
(declare-function profd-close "profd")
(declare-function profd-changes "profd-record")
(declare-function profd-record-again "profd-record")

(defun profd-view--row-of-list ()
  "The row of a tabulated list."
  (tabulated-list-get-id))

(defun profd-view-row ()
  "The row at point."
  (or (funcall profd-view-row-function)
      (user-error "No function on this line")))

;;;; Going to the source

(defun profd-view--show-line (file line)
  "Show LINE, from 1, of FILE in another window."
  (let ((buffer (find-file-noselect file)))
    (pop-to-buffer buffer '((display-buffer-reuse-window display-buffer-use-some-window
                                                         display-buffer-pop-up-window)
                            (inhibit-same-window . t)))
    (push-mark nil t)
    (widen)
    (goto-char (point-min))
    (forward-line (1- (max 1 (or line 1))))
    (back-to-indentation)
    (recenter)))

(defun profd-view--allowed-p (file)
  "Whether FILE, outside the workspace, may be opened; the user is asked once."
  (let ((folder (or (locate-dominating-file file ".git") (file-name-directory file))))
    (or (member folder profd-view--allowed)
        (when (y-or-n-p (concat (profd-clean (abbreviate-file-name file))
                                " is outside the workspace; only the profile names it.  Open it? "))
          (push folder profd-view--allowed)))))

(defun profd-view--resolve (row)
  "The uri and line of ROW as a pair, asked from the daemon, or nil."
  (let* ((answer (profd-call :source/resolve
                             (append (list :path (plist-get row :file))
                                     (and (> (or (plist-get row :line) 0) 0)
                                          (list :line (plist-get row :line))))))
         (found (profd-list (plist-get answer :candidates)))
         (uri (cond ((null found) nil)
                    ((cdr found)
                     (completing-read "Which file: "
                                      (mapcar (lambda (candidate) (plist-get candidate :uri)) found)
                                      nil t))
                    (t (plist-get (car found) :uri)))))
    (and uri (not (equal uri "")) (cons uri (plist-get row :line)))))

(defvar profd-view-visited-functions nil "Called with a row whose source is gone to from a list.")

(defun profd-view-visit-row (row)
  "Go to the source of ROW."
  (let* ((uri (plist-get row :uri))
         (found (cond ((and uri (not (equal uri ""))) (cons uri (plist-get row :line)))
                      ((plist-get row :outside) nil)
                      ((and (plist-get row :file) (not (equal "" (plist-get row :file))))
                       (profd-view--resolve row))))
         (file (profd-file (car found)))
         (outside (plist-get row :outside)))
    (cond
     ((and file (file-readable-p file)) (profd-view--show-line file (cdr found)))
     ((and outside (file-name-absolute-p outside) (not (file-remote-p outside))
           (file-readable-p outside))
      (when (profd-view--allowed-p outside)
        (profd-view--show-line outside (plist-get row :line))))
     (t (profd-say (if (and (plist-get row :file) (not (equal "" (plist-get row :file))))
                       (concat (profd-clean (plist-get row :file)) " is not in the workspace")
                     "no source is known of this row"))))))

(defun profd-view-visit ()
  "Go to the source of the row at point."
  (interactive)
  (let ((row (profd-view-row)))
    (run-hook-with-args 'profd-view-visited-functions row)
    (profd-view-visit-row row)))

(defun profd-view-mouse-visit (event)
  "Go to the source of the row that EVENT clicked on."
  (interactive "e")
  (mouse-set-point event)
  (profd-view-visit))

;;;; Acting on the row

(defun profd-view--name ()
  "The name of the row at point."
  (let ((name (plist-get (profd-view-row) :name)))
    (if (or (null name) (equal name ""))
        (user-error "No function on this line")
      name)))

(defun profd-view-callers ()
  "Show who calls the function at point."
  (interactive)
  (profd-callers-of (profd-view--name)))

(defun profd-view-callees ()
  "Show what the function at point calls."
  (interactive)
  (profd-callees-of (profd-view--name)))

(defun profd-view-within ()
  "Show where within the function at point its own cost is."
  (interactive)
  (profd-within-function (profd-view--name)))

(defun profd-view-keep ()
  "Look at stacks through the function at point alone."
  (interactive)
  (profd-session-filter (concat "keep function " (profd-quote (profd-view--name)))))

(defun profd-view-drop ()
  "Leave out the stacks through the function at point."
  (interactive)
  (profd-session-filter (concat "drop function " (profd-quote (profd-view--name)))))

(defun profd-view-hide ()
  "Take the function at point out of the stacks; its cost goes to its callers."
  (interactive)
  (profd-session-filter (concat "hide function " (profd-quote (profd-view--name)))))

(defun profd-view-copy ()
  "Copy the whole name of the function at point."
  (interactive)
  (kill-new (profd-view--name))
  (profd-say (concat "copied " (profd-view--name))))

(defvar profd-view-map
  (let ((map (make-sparse-keymap)))
    (dolist (binding '(("RET" . profd-view-visit) ("o" . profd-view-visit)
                       ("<mouse-2>" . profd-view-mouse-visit)
                       ("<double-mouse-1>" . profd-view-mouse-visit)
                       ("n" . next-line) ("p" . previous-line)
                       ("q" . quit-window) ("g" . profd-view-refresh)
                       ("c" . profd-view-callers) ("C" . profd-view-callees)
                       ("w" . profd-view-within) ("f" . profd-view-keep)
                       ("x" . profd-view-hide) ("X" . profd-view-drop)
                       ("u" . profd-undo) ("U" . profd-redo)
                       ("m" . profd-metric) ("s" . profd-select) ("i" . profd-mine)
                       ("h" . profd-hotspots) ("t" . profd-tree) ("r" . profd-report)
                       ("F" . profd-flame) ("B" . profd-browse)
                       ("a" . profd-assembly) ("T" . profd-timeline) ("K" . profd-sets)
                       ("A" . profd-analyse) ("D" . profd-changes) ("k" . profd-close) ("G" . profd-record-again)
                       ("y" . profd-view-copy) ("?" . profd-menu)))
      (define-key map (kbd (car binding)) (cdr binding)))
    map)
  "Keys of the lists of profd.")

;;;; Buffers

(defun profd-view-refresh ()
  "Ask for what the buffer shows anew."
  (interactive)
  (when profd-view-refresh-function
    (funcall profd-view-refresh-function)))

(defun profd-view-buffer (name mode)
  "The buffer NAME in MODE, shown."
  (let ((buffer (get-buffer-create name)))
    (with-current-buffer buffer
      (unless (derived-mode-p mode)
        (funcall mode)))
    (pop-to-buffer buffer)
    buffer))

(defun profd-view-ask (method params done)
  "Ask METHOD with PARAMS for the current buffer; DONE runs there with the answer.
An answer to an older question is not taken."
  (let ((buffer (current-buffer))
        (asked (setq profd-view--asked (1+ profd-view--asked))))
    (profd-request
     method params
     (lambda (result)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (when (= asked profd-view--asked)
             (funcall done result)))))
     (lambda (text _code)
       ;; Where there is room the sentence stands there, instead of what is no answer any more.
       (if (not (and (buffer-live-p buffer)
                     (with-current-buffer buffer
                       (and (derived-mode-p 'special-mode) (= asked profd-view--asked)))))
           (profd-warn text)
         (profd-log-add text)
         (with-current-buffer buffer
           (profd-view-put-heading nil)
           (profd-view-write (concat (profd-view-fill text) "\n"))))))))

(defun profd-view-through-filters (done)
  "Call DONE in the current buffer with the filters that are on, as texts."
  (let ((buffer (current-buffer)))
    (profd-session-clauses
     (lambda (clauses)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (funcall done clauses)))))))

(defun profd-view-set-up (ask &optional row)
  "Have ASK bring the current buffer up to date, and ROW give the row at point."
  (setq truncate-lines t
        buffer-undo-list t
        profd-view-refresh-function ask)
  (when row
    (setq profd-view-row-function row))
  (setq-local bidi-display-reordering nil)
  (setq-local revert-buffer-function (lambda (&rest _) (profd-view-refresh))))

(defun profd-view--changed ()
  "Ask for all that is on the screen anew."
  (when profd-session-profile
    (dolist (buffer (buffer-list))
      (when (and (buffer-local-value 'profd-view-refresh-function buffer)
                 (get-buffer-window buffer t))
        (with-current-buffer buffer
          (profd-view-refresh))))))

(add-hook 'profd-session-changed-hook #'profd-view--changed)

(defun profd-view-fill (text &optional width)
  "TEXT in lines of WIDTH columns, or of the width of the window.
A window that is too narrow for that has it in one line."
  (let* ((window (get-buffer-window nil t))
         (width (or width (if window (1- (window-max-chars-per-line window)) 0)))
         (text (profd-clean text)))
    (if (or (< width 40) (<= (string-width text) width))
        text
      (with-temp-buffer
        (insert text)
        (let ((fill-column width))
          (fill-region (point-min) (point-max) nil t))
        (string-trim-right (buffer-string))))))

(defun profd-view-heading (text &rest notes)
  "TEXT, and NOTES that are not nil, each below it."
  (concat (propertize (profd-clean text) 'face 'profd-title) "\n"
          (mapconcat (lambda (note) (concat (propertize (profd-view-fill note) 'face 'profd-note) "\n"))
                     (delq nil notes) "")))

(defun profd-view-cell (answer key i)
  "What the column KEY of the rows of ANSWER has in row I."
  (aref (plist-get (plist-get answer :rows) key) i))

(defun profd-view-row-place (answer i)
  "Where row I of ANSWER stands: a plist of `:file', `:uri' and `:line'."
  (let* ((file (profd-view-cell answer :file i))
         (of (lambda (key)
               (let ((list (plist-get answer key)))
                 (and (>= file 0) (< file (length list)) (aref list file))))))
    (list :file (funcall of :files) :uri (funcall of :fileUris)
          :line (profd-view-cell answer :line i))))

(defun profd-view-row-name (answer i)
  "The function of row I of ANSWER: a plist of `:name' and `:label'."
  (let ((name (profd-view-cell answer :name i)))
    (list :name (aref (plist-get answer :names) name)
          :label (aref (plist-get answer :labels) name))))

(defun profd-view-columns (answer key)
  "The numbers of the rows of ANSWER, which has a column KEY."
  (number-sequence 0 (1- (length (plist-get (plist-get answer :rows) key)))))

(defun profd-view-rest (answer)
  "What the rows of ANSWER leave out, as a line, or nothing."
  (if-let ((rest (plist-get (plist-get answer :remainder) :text)))
      (propertize (concat (profd-clean rest) "\n") 'face 'profd-note)
    ""))

(defvar-local profd-view--heading nil "The overlay that is shown above the rows.")
(put 'profd-view--heading 'permanent-local t)

(defun profd-view-put-heading (heading)
  "Show HEADING, a text of lines, above the rows; nil is none.
It is no part of the buffer's text: rows begin at its beginning, and
stay below it when they are sorted."
  (unless profd-view--heading
    (setq profd-view--heading (make-overlay 1 1)))
  (move-overlay profd-view--heading (point-min) (point-min))
  (overlay-put profd-view--heading 'before-string (and heading (concat heading "\n"))))

(defun profd-view-of (answer)
  "What the numbers of ANSWER are of."
  (format "%s of %s" (plist-get answer :metric) profd-session-name))

(defun profd-view-filter-note (filters)
  "FILTERS as a remark, or nil."
  (and filters (concat "filters: " (string-join filters " | ") "   (u takes the last one back)")))

(defun profd-view-notes (answer)
  "What ANSWER says beside its numbers, as remarks."
  (append (delq nil (list (plist-get (plist-get answer :sides) :scale)))
          (profd-list (plist-get (plist-get answer :sides) :warnings))
          (profd-list (plist-get answer :warnings))
          (delq nil (list (plist-get answer :estimated)
                          (plist-get (plist-get answer :excluded) :text)
                          (plist-get answer :note)))))

(defun profd-view-place (file line)
  "FILE, as the profile says, and LINE, as a short text."
  (if (or (null file) (equal file ""))
      ""
    (let ((base (car (last (split-string (profd-clean file) "[/\\\\]")))))
      (if (and line (> line 0)) (format "%s:%d" base line) base))))

(defun profd-view-write (text)
  "Write TEXT and keep point and windows at the lines that they are at."
  (let ((inhibit-read-only t)
        (line (line-number-at-pos))
        (windows (mapcar (lambda (window)
                           (list window (line-number-at-pos (window-point window))
                                 (line-number-at-pos (window-start window))))
                         (get-buffer-window-list nil nil t))))
    (erase-buffer)
    (insert text)
    (goto-char (point-min))
    (forward-line (1- line))
    (pcase-dolist (`(,window ,at ,start) windows)
      (save-excursion
        (goto-char (point-min))
        (forward-line (1- at))
        (set-window-point window (point))
        (goto-char (point-min))
        (forward-line (1- start))
        (set-window-start window (point) t)))))

(provide 'profd-view)
;;; profd-view.el ends here
