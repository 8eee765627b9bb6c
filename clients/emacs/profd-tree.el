;;; profd-tree.el --- Calls as a tree  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Views that are trees, a level at a time: from the roots down, from the
;; hot functions up, callers and callees of a function.  Nodes are plists
;; as rows are, with their depth, their path of keys, and children once
;; these were asked for.

;;; Code:

(require 'cl-lib)
(require 'profd-base)
(require 'profd-session)
(require 'profd-heat)
(require 'profd-view)

(cl-defstruct (profd-tree-node (:constructor profd-tree-node-make) (:copier nil))
  row depth keys names expandable children open note share total)

(defvar-local profd-tree--shape "top-down by function")
(defvar-local profd-tree--roots nil)
(defvar-local profd-tree--head nil "What stands above the tree.")
(defvar-local profd-tree--spec nil "The view as the daemon calls it.")
(defvar-local profd-tree--revision nil)
(defvar-local profd-tree--open nil "Paths of names that are open, or `hot' at first.")

(defvar profd-tree-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap profd-view-map special-mode-map))
    (dolist (binding '(("TAB" . profd-tree-toggle) ("<backtab>" . profd-tree-fold)
                       ("<right>" . profd-tree-unfold) ("<left>" . profd-tree-fold)
                       ("b" . profd-tree-turn) ("<mouse-1>" . profd-tree-mouse-toggle)))
      (define-key map (kbd (car binding)) (cdr binding)))
    map)
  "Keys of trees.")

(define-derived-mode profd-tree-mode special-mode "profd-tree"
  "Calls of a profile as a tree.
\\{profd-tree-mode-map}"
  (profd-view-set-up #'profd-tree--ask #'profd-tree--row)
  (setq header-line-format
        (format "%9s %10s %9s %10s  %s" "Total %%" "Total" "Self %%" "Self" "Function")))

(defun profd-tree--node ()
  "The node at point."
  (get-text-property (line-beginning-position) 'profd-node))

(defun profd-tree--row ()
  "The row at point."
  (when-let ((node (profd-tree--node)))
    (profd-tree-node-row node)))

(defun profd-tree--nodes (answer depth keys names)
  "The rows of ANSWER as nodes at DEPTH, below the path of KEYS and NAMES."
  (let ((total (plist-get (plist-get answer :viewTotal) :value)))
    (append
     (mapcar
      (lambda (i)
        (cl-flet ((column (key) (profd-view-cell answer key i)))
          (let ((name (profd-view-row-name answer i)))
            (profd-tree-node-make
             :depth depth
             :keys (append keys (list (column :key)))
             :names (append names (list (plist-get name :name)))
             :expandable (eq t (column :children))
             :total (column :total)
             :share (and (numberp total) (/= 0 total) (/ (float (column :total)) total))
             :row (append name (profd-view-row-place answer i)
                          (list :texts (mapcar #'column '(:totalShare :totalText :selfShare :selfText))))))))
      (profd-view-columns answer :name))
     (when-let ((rest (plist-get (plist-get answer :remainder) :text)))
       (list (profd-tree-node-make :depth depth :note rest))))))

(defun profd-tree--line (node)
  "The line of NODE."
  (if (profd-tree-node-note node)
      (propertize (concat (make-string (+ 43 (* 2 (profd-tree-node-depth node))) ?\s)
                          (profd-clean (profd-tree-node-note node)) "\n")
                  'face 'profd-note)
    (let* ((row (profd-tree-node-row node))
           (texts (mapcar #'profd-clean (plist-get row :texts)))
           (place (profd-view-place (plist-get row :file) (plist-get row :line))))
      (propertize
       (concat
        (propertize (format "%8s" (nth 0 texts))
                    'face (profd-heat-face (sqrt (min 1.0 (max 0.0 (or (profd-tree-node-share node) 0))))
                                           'profd-number))
        (format " %10s %8s %10s  " (nth 1 texts) (nth 2 texts) (nth 3 texts))
        (make-string (* 2 (profd-tree-node-depth node)) ?\s)
        (cond ((not (profd-tree-node-expandable node)) "  ")
              ((profd-tree-node-open node) "▾ ")
              (t "▸ "))
        (propertize (profd-clean (plist-get row :label)) 'face 'profd-name)
        (if (equal place "") "" (propertize (concat "  " place) 'face 'profd-place))
        "\n")
       'profd-node node))))

(defun profd-tree--print ()
  "Write the tree."
  (let ((lines nil)
        (left profd-tree--roots))
    (while left
      (let ((node (pop left)))
        (push (profd-tree--line node) lines)
        (when (profd-tree-node-open node)
          (setq left (append (profd-tree-node-children node) left)))))
    (profd-view-write (apply #'concat (nreverse lines)))
    (profd-view-put-heading profd-tree--head)))

(defun profd-tree--wants-open-p (node)
  "Whether NODE is to be open without being asked."
  (and (profd-tree-node-expandable node)
       (if (eq profd-tree--open 'hot)
           (< (profd-tree-node-depth node) 12)
         (member (profd-tree-node-names node) profd-tree--open))))

(defun profd-tree--follow (nodes parent)
  "Open those of NODES, children of PARENT or roots, that are to be open."
  (if (eq profd-tree--open 'hot)
      ;; Down where most goes, while that is most of what is above it.
      (let ((first (car nodes)))
        (when (and first (profd-tree--wants-open-p first)
                   (or (null parent)
                       (>= (* 2 (profd-tree-node-total first)) (profd-tree-node-total parent))))
          (profd-tree--load first)))
    (dolist (node nodes)
      (when (and (not (profd-tree-node-note node)) (profd-tree--wants-open-p node))
        (profd-tree--load node)))))

(defun profd-tree--load (node)
  "Ask for the children of NODE and open it."
  (let ((buffer (current-buffer))
        (asked profd-view--asked))
    (profd-request
     :view/table
     (list :profile profd-session-profile :spec profd-tree--spec :sort "total" :limit profd-rows
           :revision profd-tree--revision :expand (vconcat (profd-tree-node-keys node)))
     (lambda (answer)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (when (= asked profd-view--asked)
             (setf (profd-tree-node-children node)
                   (profd-tree--nodes answer (1+ (profd-tree-node-depth node))
                                      (profd-tree-node-keys node) (profd-tree-node-names node)))
             (setf (profd-tree-node-open node) t)
             (profd-tree--print)
             (profd-tree--follow (profd-tree-node-children node) node))))))))

(defun profd-tree--show (answer clauses)
  "Show ANSWER, the roots of a tree through the filters CLAUSES."
  (setq profd-tree--roots (profd-tree--nodes answer 0 nil nil)
        profd-tree--spec (plist-get answer :spec)
        profd-tree--revision (plist-get answer :revision)
        profd-tree--head
        (apply #'profd-view-heading
               (format "%s, %s, %s" (profd-view-of answer)
                       (profd-clean profd-tree--shape)
                       (plist-get (plist-get answer :viewTotal) :text))
               (profd-view-filter-note clauses)
               (profd-view-notes answer)))
  (profd-tree--print)
  (profd-tree--follow profd-tree--roots nil))

(defun profd-tree--ask ()
  "Ask for the tree anew."
  (profd-view-through-filters
   (lambda (clauses)
     (profd-view-ask
      :view/table
      (list :profile profd-session-profile
            :spec (profd-session-spec profd-tree--shape clauses)
            :sort "total" :limit profd-rows)
      (lambda (answer) (profd-tree--show answer clauses))))))

;;;; Folding

(defun profd-tree--remember ()
  "Keep in mind what is open, for when the tree is asked for again."
  (let ((left profd-tree--roots)
        (open nil))
    (while left
      (let ((node (pop left)))
        (when (profd-tree-node-open node)
          (push (profd-tree-node-names node) open)
          (setq left (append (profd-tree-node-children node) left)))))
    (setq profd-tree--open open)))

(defun profd-tree-unfold ()
  "Show the children of the row at point."
  (interactive)
  (let ((node (profd-tree--node)))
    (when (and node (profd-tree-node-expandable node) (not (profd-tree-node-open node)))
      (profd-tree--remember)
      (if (profd-tree-node-children node)
          (progn (setf (profd-tree-node-open node) t)
                 (profd-tree--print))
        (profd-tree--load node))
      (push (profd-tree-node-names node) profd-tree--open))))

(defun profd-tree-fold ()
  "Hide the children of the row at point, or go to the row above it."
  (interactive)
  (let ((node (profd-tree--node)))
    (cond
     ((null node))
     ((profd-tree-node-open node)
      (setf (profd-tree-node-open node) nil)
      (profd-tree--remember)
      (profd-tree--print))
     (t
      (let ((depth (profd-tree-node-depth node)))
        (while (and (not (bobp))
                    (let ((above (profd-tree--node)))
                      (or (null above) (>= (profd-tree-node-depth above) depth))))
          (forward-line -1)))))))

(defun profd-tree-toggle ()
  "Show or hide the children of the row at point."
  (interactive)
  (let ((node (profd-tree--node)))
    (if (and node (profd-tree-node-open node))
        (profd-tree-fold)
      (profd-tree-unfold))))

(defun profd-tree-mouse-toggle (event)
  "Show or hide the children of the row that EVENT clicked on."
  (interactive "e")
  (mouse-set-point event)
  (profd-tree-toggle))

(defun profd-tree-turn ()
  "From the roots down, or from the hot functions up."
  (interactive)
  (profd-tree--start (if (string-prefix-p "top-down" profd-tree--shape)
                         "bottom-up by function"
                       "top-down by function")))

;;;; Commands

(defun profd-tree--start (shape)
  "Show the tree SHAPE."
  (profd-session-ensure)
  (with-current-buffer (profd-view-buffer "*profd tree*" 'profd-tree-mode)
    (setq profd-tree--shape shape
          profd-tree--open 'hot)
    (goto-char (point-min))
    (profd-tree--ask)))

(defun profd-tree (&optional bottom-up)
  "Show calls as a tree, from the roots down; with BOTTOM-UP from hot functions up."
  (interactive "P")
  (profd-tree--start (if bottom-up "bottom-up by function" "top-down by function")))

(defun profd-callers-of (name)
  "Show who calls the function NAME."
  (profd-tree--start (concat "callers of " (profd-quote name) " by function")))

(defun profd-callees-of (name)
  "Show what the function NAME calls."
  (profd-tree--start (concat "callees of " (profd-quote name) " by function")))

(provide 'profd-tree)
;;; profd-tree.el ends here
