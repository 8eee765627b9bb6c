;;; profd-assembly.el --- A function as instructions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The instructions of the function at point with what each costs, below
;; the source lines that they are of.

;;; Code:

(require 'profd-base)
(require 'profd-session)
(require 'profd-heat)
(require 'profd-view)
(require 'profd-lists)
(require 'profd-report)

(defconst profd-assembly--limit 5000 "Instructions at most.")

(defvar-local profd-assembly--name nil "The function that the buffer is about.")

(defun profd-assembly--instruction (answer i)
  "The line of instruction I of ANSWER."
  (let* ((piece (aref (plist-get answer :pieces) (plist-get answer :piece)))
         (column (lambda (key) (profd-view-cell answer key i)))
         (share (funcall column :selfShare))
         (silent (eql 0 (funcall column :self))))
    (propertize
     (concat (if silent (make-string 8 ?\s)
               (propertize (format "%8s" (profd-clean share))
                           'face (profd-heat-face (funcall column :heat) 'profd-number)))
             (format " %10s  " (if silent "" (profd-clean (funcall column :selfText))))
             (propertize (format "%6x  " (+ (profd-assembly--address piece) (funcall column :offset)))
                         'face 'profd-place)
             (profd-clean (funcall column :text))
             (let ((target (funcall column :targetName)))
               (if (equal target "") ""
                 (propertize (concat "  → " (profd-clean target)) 'face 'profd-note)))
             "\n")
     'profd-row (append (list :name profd-assembly--name :self (funcall column :self))
                        (profd-view-row-place answer i)))))

(defun profd-assembly--address (piece)
  "The first address of PIECE."
  (let ((start (plist-get piece :start)))
    (if (string-match "\\`0x\\([[:xdigit:]]+\\)\\'" start)
        (string-to-number (match-string 1 start) 16)
      0)))

(defun profd-assembly--rows (answer)
  "The instructions of ANSWER below the source lines that they are of."
  (let* ((headings (plist-get answer :headings))
         (above (make-hash-table)))
    (dotimes (i (length (plist-get headings :first)))
      (puthash (aref (plist-get headings :first) i) (aref (plist-get headings :text) i) above))
    (mapconcat
     (lambda (i)
       (concat (if-let ((text (gethash (+ i (plist-get answer :offset)) above)))
                   (propertize (concat (profd-clean text) "\n") 'face 'profd-title)
                 "")
               (profd-assembly--instruction answer i)))
     (profd-view-columns answer :offset) "")))

(defun profd-assembly--text (answer)
  "The code of ANSWER as text."
  (let* ((pieces (plist-get answer :pieces))
         (piece (and (> (length pieces) 0) (aref pieces (plist-get answer :piece))))
         (left (- (or (plist-get answer :rowCount) 0) (length (plist-get (plist-get answer :rows) :offset)))))
    (concat
     (apply #'profd-view-heading
            (if piece
                (format "%s  %s+%s: self %s, total %s" (plist-get piece :name) (plist-get piece :module)
                        (plist-get piece :start) (plist-get (plist-get piece :self) :text)
                        (plist-get (plist-get piece :total) :text))
              (or profd-assembly--name ""))
            (profd-view-of answer)
            (and (> (length pieces) 1)
                 (format "the piece of %d that costs most" (length pieces)))
            (profd-view-filter-note (profd-list (plist-get answer :filters)))
            (plist-get answer :problem) (plist-get answer :skid)
            (append (mapcar (lambda (rest) (format "%s %s" (plist-get (plist-get rest :amount) :text)
                                                   (plist-get rest :text)))
                            (plist-get answer :rest))
                    (profd-view-notes answer)))
     "\n"
     (if (plist-get answer :problem) "" (profd-assembly--rows answer))
     (if (> left 0) (propertize (format "and %d instructions more\n" left) 'face 'profd-note) ""))))

(defun profd-assembly--ask ()
  "Ask for the instructions anew."
  (profd-view-ask :source/disassembly
                  (list :profile profd-session-profile :function profd-assembly--name
                        :workspaceFilters t :limit profd-assembly--limit)
                  (lambda (answer)
                    (let ((first (bobp)))
                      (profd-view-write (profd-assembly--text answer))
                      (when first
                        (profd-assembly--go-hottest))))))

(defun profd-assembly--go-hottest ()
  "Go to the instruction that costs most."
  (let ((most 0)
        (at (point-min)))
    (goto-char (point-min))
    (while (not (eobp))
      (let ((self (plist-get (get-text-property (point) 'profd-row) :self)))
        (when (and self (> self most))
          (setq most self
                at (point))))
      (forward-line))
    (goto-char at)
    (when-let ((window (get-buffer-window nil t)))
      (set-window-point window at)
      (with-selected-window window
        (recenter)))))

;;;###autoload
(defun profd-assembly ()
  "Show the function at point as instructions, with what each costs."
  (interactive)
  (let ((name (profd-function-here)))
    (with-current-buffer (profd-view-buffer "*profd assembly*" 'profd-text-mode)
      (setq profd-view-refresh-function #'profd-assembly--ask
            profd-assembly--name name)
      (goto-char (point-min))
      (profd-assembly--ask))))

(provide 'profd-assembly)
;;; profd-assembly.el ends here
