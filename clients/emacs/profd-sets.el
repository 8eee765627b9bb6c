;;; profd-sets.el --- Kinds of work of a profile  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; How much of a profile is garbage collection, locking, input and
;; output; a kind of work becomes a filter of all that is shown.

;;; Code:

(require 'profd-base)
(require 'profd-session)
(require 'profd-view)
(require 'profd-lists)

(defconst profd-sets--bar 16 "Columns of the longest bar.")

(defvar profd-sets-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map profd-text-mode-map)
    (define-key map (kbd "RET") #'profd-sets-keep)
    (define-key map "f" #'profd-sets-keep)
    (define-key map "X" #'profd-sets-drop)
    map)
  "Keys of kinds of work.")

(define-derived-mode profd-sets-mode profd-text-mode "profd"
  "Kinds of work of a profile.
\\{profd-sets-mode-map}")

(defun profd-sets--row (set width)
  "A line for SET, whose title has WIDTH columns."
  (let* ((amount (plist-get set :amount))
         (share (max 0 (min 1 (abs (or (plist-get amount :share) 0)))))
         (clause (concat "keep kind " (plist-get set :name))))
    (propertize
     (concat (propertize (string-pad (profd-clean (plist-get set :title)) width) 'face 'profd-name)
             (format "  %10s %8s  " (profd-clean (plist-get amount :text))
                     (profd-clean (or (plist-get amount :shareText) "")))
             (make-string (round (* share profd-sets--bar)) ?█)
             (if (member clause profd-session-filters) "  kept" "")
             "\n")
     'profd-row (list :kind (plist-get set :name)))))

(defun profd-sets--text (answer clauses)
  "The kinds of work of ANSWER, through the filters CLAUSES, as text."
  (let* ((sets (profd-list (plist-get answer :sets)))
         (width (apply #'max 12 (mapcar (lambda (set) (string-width (profd-clean (plist-get set :title)))) sets))))
    (concat
     (apply #'profd-view-heading
            (concat (profd-view-of answer) ": " (plist-get (plist-get answer :viewTotal) :text))
            (profd-view-filter-note clauses) (profd-view-notes answer))
     "\n"
     (if (null sets)
         "No stack belongs to a kind of work that profd knows\n"
       (concat
        (propertize (concat (string-pad "kind of work" width) "   stacks through it\n") 'face 'profd-note)
        (mapconcat (lambda (set) (profd-sets--row set width)) sets "")
        (propertize "\nRET keeps a kind of work everywhere, X leaves it out, u takes that back\n"
                    'face 'profd-note))))))

(defun profd-sets--ask ()
  "Ask for the kinds of work anew."
  (profd-view-through-filters
   (lambda (clauses)
     (profd-view-ask :view/sets
                     (list :profile profd-session-profile :spec (profd-session-spec "flat" clauses))
                     (lambda (answer) (profd-view-write (profd-sets--text answer clauses)))))))

(defun profd-sets--filter (word)
  "Have WORD, keep or drop, be done to the kind of work at point."
  (let ((kind (plist-get (profd-view-row) :kind)))
    (unless kind
      (user-error "No kind of work on this line"))
    (profd-session-filter (format "%s kind %s" word kind))))

(defun profd-sets-keep ()
  "Look at the kind of work at point alone."
  (interactive)
  (profd-sets--filter "keep"))

(defun profd-sets-drop ()
  "Leave out the kind of work at point."
  (interactive)
  (profd-sets--filter "drop"))

;;;###autoload
(defun profd-sets ()
  "Show how much is of which kind of work."
  (interactive)
  (profd-session-ensure)
  (with-current-buffer (profd-view-buffer "*profd kinds*" 'profd-sets-mode)
    (setq profd-view-refresh-function #'profd-sets--ask)
    (profd-sets--ask)))

(provide 'profd-sets)
;;; profd-sets.el ends here
