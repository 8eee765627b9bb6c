;;; profd-lists.el --- The hottest functions of profd  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Functions by what they cost, or of a comparison by what became of
;; them, in a sorted list; and the first glance at a profile.

;;; Code:

(require 'profd-base)
(require 'profd-session)
(require 'profd-heat)
(require 'profd-view)

(defvar profd-hotspots-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap profd-view-map tabulated-list-mode-map))
    map)
  "Keys of lists of functions.")

(define-derived-mode profd-hotspots-mode tabulated-list-mode "profd"
  "Functions of a profile by their cost.
\\{profd-hotspots-mode-map}"
  ;; Where a row begins is a column, too, which it can be sorted by.
  (setq tabulated-list-padding 0)
  (profd-view-set-up #'profd-lists--ask))

(defun profd-lists--by (column)
  "A predicate that sorts rows by COLUMN, a key of row plists."
  (lambda (a b) (< (or (plist-get (car a) column) 0) (or (plist-get (car b) column) 0))))

(defun profd-lists--amount (row key)
  "The texts of the amount KEY of ROW: value and share."
  (let ((amount (plist-get row key)))
    (list (profd-clean (plist-get amount :text))
          (profd-clean (or (plist-get amount :shareText) "")))))

(defun profd-lists--share-cell (text share)
  "TEXT, coloured by SHARE."
  (propertize text 'face (profd-heat-face (sqrt (min 1.0 (max 0.0 (or share 0)))) 'profd-number)))

(defun profd-lists--entry (place)
  "A row of the list for PLACE."
  (pcase-let* ((`(,self ,self-share) (profd-lists--amount place :self))
               (`(,total ,total-share) (profd-lists--amount place :total))
               (share (plist-get (plist-get place :self) :share)))
    (list (append (list :self-value (plist-get (plist-get place :self) :value)
                        :total-value (plist-get (plist-get place :total) :value))
                  place)
          (vector (profd-lists--share-cell self-share share)
                  self total-share total
                  (propertize (profd-clean (or (plist-get place :shortName) (plist-get place :name)))
                              'face 'profd-name)
                  (propertize (profd-view-place (or (plist-get place :file) (plist-get place :module))
                                                (plist-get place :line))
                              'face 'profd-place)))))

(defun profd-lists--print (heading)
  "Print the list, and HEADING, a text of lines, above it."
  (setq tabulated-list-use-header-line t
        mode-line-process (concat ": " (profd-clean (car (split-string heading "\n")))))
  (tabulated-list-init-header)
  (tabulated-list-print t)
  (profd-view-put-heading heading)
  (unless (tabulated-list-get-id)
    (goto-char (point-min))))

(defun profd-lists--show (answer)
  "Show ANSWER, the hottest functions."
  (setq tabulated-list-format
        (vector (list "Self %%" 8 (profd-lists--by :self-value) :right-align t)
                (list "Self" 11 (profd-lists--by :self-value) :right-align t)
                (list "Total %%" 10 (profd-lists--by :total-value) :right-align t)
                (list "Total" 10 (profd-lists--by :total-value) :right-align t)
                (list "Function" 46 t)
                (list "Place" 30 t))
        tabulated-list-sort-key (if (assoc (car tabulated-list-sort-key) (append tabulated-list-format nil))
                                    tabulated-list-sort-key
                                  (cons "Self" t))
        tabulated-list-entries (mapcar #'profd-lists--entry (plist-get answer :places)))
  (profd-lists--print
   (apply #'profd-view-heading
          (profd-view-of answer)
          (plist-get (plist-get answer :remainder) :text)
          (profd-view-filter-note (profd-list (plist-get answer :filters)))
          (profd-view-notes answer))))

(defconst profd-lists--marks '((3 . "[A]") (4 . "[D]"))
  "How rows are marked that are there on one side alone.")

(defun profd-lists--change-entry (answer i)
  "Row I of ANSWER, a table of changes."
  (let* ((changes (plist-get answer :changes))
         (column (lambda (key) (aref (plist-get changes key) i)))
         (name (profd-view-row-name answer i))
         (place (profd-view-row-place answer i))
         (before (funcall column :selfBefore))
         (after (funcall column :selfAfter))
         (delta (- (or after 0) (or before 0))))
    (list (append name place
                  (list :change-value (abs delta) :before-value before :after-value after))
          (vector (propertize (profd-clean (funcall column :selfChange))
                              'face (profd-heat-face 0.5 'profd-number (< delta 0)))
                  (or (alist-get (funcall column :change) profd-lists--marks) "")
                  (profd-clean (funcall column :selfBeforeText))
                  (profd-clean (funcall column :selfAfterText))
                  (propertize (profd-clean (plist-get name :label)) 'face 'profd-name)
                  (propertize (profd-view-place (plist-get place :file) (plist-get place :line))
                              'face 'profd-place)))))

(defun profd-lists--show-changes (answer filters)
  "Show ANSWER, the functions of a comparison by change, through FILTERS."
  (let ((sides (plist-get answer :sides)))
    (setq tabulated-list-format
          (vector (list "Change" 20 (profd-lists--by :change-value) :right-align t)
                  (list "" 3 nil)
                  (list "Before" 10 (profd-lists--by :before-value) :right-align t)
                  (list "After" 10 (profd-lists--by :after-value) :right-align t)
                  (list "Function" 46 t)
                  (list "Place" 30 t))
          tabulated-list-sort-key (cons "Change" t)
          tabulated-list-entries
          (mapcar (lambda (i) (profd-lists--change-entry answer i))
                  (profd-view-columns answer :name)))
    (profd-lists--print
     (apply #'profd-view-heading
            (format "%s: %s → %s, %s" profd-session-name
                    (plist-get (plist-get sides :before) :text)
                    (plist-get (plist-get sides :after) :text)
                    (plist-get sides :change))
            (plist-get sides :verdict)
            (plist-get (plist-get answer :unchanged) :text)
            (plist-get (plist-get answer :remainder) :text)
            (profd-view-filter-note filters)
            (profd-view-notes answer)))))

(defun profd-lists--ask ()
  "Ask for the functions anew."
  (if (profd-session-diff-p)
      (profd-view-through-filters
       (lambda (clauses)
         (profd-view-ask
          :view/table
          (list :profile profd-session-profile
                :spec (profd-session-spec "flat by function" clauses)
                :sort "change" :changedOnly t :limit profd-rows)
          (lambda (answer) (profd-lists--show-changes answer clauses)))))
    (profd-view-ask :view/hotspots
                    (list :profile profd-session-profile :granularity "function" :sort "self"
                          :workspaceFilters t :limit profd-rows)
                    #'profd-lists--show)))

(defun profd-hotspots ()
  "List the hottest functions; of a comparison those that changed most."
  (interactive)
  (profd-session-ensure)
  (with-current-buffer (profd-view-buffer "*profd hotspots*" 'profd-hotspots-mode)
    (setq tabulated-list-sort-key nil)
    (profd-lists--ask)))

;;;; The first glance

(defvar profd-text-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap profd-view-map special-mode-map))
    map)
  "Keys of texts of profd whose lines are rows.")

(define-derived-mode profd-text-mode special-mode "profd"
  "Text whose lines may be rows of a profile.
\\{profd-text-mode-map}"
  (profd-view-set-up nil (lambda () (get-text-property (line-beginning-position) 'profd-row))))

(defun profd-lists--fact (name value)
  "A line that says that NAME is VALUE, or nothing when there is none."
  (if (or (null value) (equal value "")) ""
    (format "%-10s %s\n" name (profd-clean value))))

(defun profd-lists--summary-text (summary)
  "SUMMARY as text."
  (concat
   (profd-view-heading (plist-get summary :name) (plist-get (plist-get summary :format) :text))
   "\n"
   (profd-lists--fact "program" (plist-get summary :program))
   (profd-lists--fact "profiler" (plist-get summary :profiler))
   (profd-lists--fact "when" (plist-get (plist-get summary :when) :text))
   (profd-lists--fact "duration" (plist-get (plist-get summary :duration) :text))
   (profd-lists--fact "records" (plist-get (plist-get summary :records) :text))
   (mapconcat (lambda (metric)
                (profd-lists--fact (if (equal (plist-get metric :name) (plist-get summary :metric))
                                       "metric" "also")
                                   (format "%s  %s" (plist-get metric :name) (plist-get metric :text))))
              (plist-get summary :metrics) "")
   "\n" (profd-view-heading "hottest functions")
   (mapconcat (lambda (place)
                (propertize
                 (format "%8s %10s  %s\n"
                         (or (plist-get (plist-get place :self) :shareText) "")
                         (plist-get (plist-get place :self) :text)
                         (profd-clean (or (plist-get place :shortName) (plist-get place :name))))
                 'profd-row place))
              (plist-get summary :hottest) "")
   (if (= 0 (length (plist-get summary :heaviest))) ""
     (concat
      "\n" (profd-view-heading "heaviest paths")
      (mapconcat (lambda (path)
                   (format "%8s  %s\n" (or (plist-get (plist-get path :amount) :shareText) "")
                           (mapconcat #'profd-clean (plist-get path :frames) " › ")))
                 (plist-get summary :heaviest) "")))
   (if (= 0 (length (plist-get summary :report))) ""
     (concat "\n" (profd-view-heading "what was odd, lost or guessed in reading")
             (mapconcat (lambda (row) (concat (profd-clean (plist-get row :message)) "\n"))
                        (plist-get summary :report) "")))))

(defun profd-lists--ask-summary ()
  "Ask for the summary anew."
  (profd-view-ask :profile/summary (list :profile profd-session-profile)
                  (lambda (summary) (profd-view-write (profd-lists--summary-text summary)))))

(defun profd-summary ()
  "Show the first glance at the profile."
  (interactive)
  (profd-session-ensure)
  (with-current-buffer (profd-view-buffer "*profd summary*" 'profd-text-mode)
    (setq profd-view-refresh-function #'profd-lists--ask-summary)
    (profd-lists--ask-summary)))

(provide 'profd-lists)
;;; profd-lists.el ends here
