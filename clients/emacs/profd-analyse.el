;;; profd-analyse.el --- Scripts over a profile  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Runs an analysis, one that comes with profd or a script of yours, and
;; shows what it prints, its tables, or the profile that it makes.

;;; Code:

(require 'seq)
(require 'profd)

(defvar-local profd-analyse--run nil "The name of the script, its arguments, and what was said yes to.")

(defun profd-analyse--rows ()
  "The scripts to choose from."
  (let ((answer (profd-call :analysis/list (make-hash-table))))
    (mapc #'profd-warn (plist-get answer :problems))
    (mapcar (lambda (analysis)
              (cons (plist-get analysis :name) (cons analysis (plist-get analysis :title))))
            (seq-filter (lambda (analysis) (<= (plist-get analysis :minProfiles) 1))
                        (plist-get answer :analyses)))))

(defun profd-analyse--cell (row column width number)
  "Cell COLUMN of ROW in WIDTH columns; a NUMBER stands right."
  (let ((text (profd-clean (aref (plist-get row :cells) column))))
    (string-pad text width nil number)))

(defun profd-analyse--table (table)
  "TABLE as text."
  (let* ((columns (plist-get table :columns))
         (rows (plist-get table :rows))
         (indices (number-sequence 0 (1- (length columns))))
         (numbers (mapcar (lambda (i) (and (> (length rows) 0)
                                           (seq-every-p (lambda (row) (numberp (aref (plist-get row :values) i)))
                                                        rows)))
                          indices))
         (titles (mapcar (lambda (column) (profd-clean (plist-get column :title))) columns))
         (widths (seq-mapn
                  (lambda (title i)
                    (apply #'max (string-width title)
                           (mapcar (lambda (row) (string-width (profd-clean (aref (plist-get row :cells) i))))
                                   rows)))
                  titles indices)))
    (concat
     "\n" (profd-view-heading (plist-get table :title))
     (propertize (concat (string-join (seq-mapn (lambda (title width number) (string-pad title width nil number))
                                                titles widths numbers)
                                      "  ")
                         "\n")
                 'face 'profd-note)
     (mapconcat (lambda (row)
                  (concat (string-join
                           (seq-mapn (lambda (i width number) (profd-analyse--cell row i width number))
                                     indices widths numbers)
                           "  ")
                          "\n"))
                rows "")
     (if (> (plist-get table :left) 0)
         (propertize (format "and %d rows more\n" (plist-get table :left)) 'face 'profd-note)
       ""))))

(defun profd-analyse--said (annotation)
  "A line for ANNOTATION, which is of a source line."
  (let ((line (1+ (plist-get annotation :line))))
    (propertize (format "%-30s %s\n" (profd-view-place (plist-get annotation :file) line)
                        (profd-clean (plist-get annotation :text)))
                'profd-row (list :file (plist-get annotation :file) :uri (plist-get annotation :uri)
                                 :line line))))

(defun profd-analyse--text (answer)
  "What the script of ANSWER made, as text."
  (concat
   (profd-view-heading (format "%s of %s" (plist-get answer :name) profd-session-name)
                       (when-let ((took (plist-get (plist-get answer :duration) :text)))
                         (concat "ran for " took)))
   (if (equal "" (plist-get answer :text)) ""
     (concat "\n" (mapconcat #'profd-clean (split-string (string-trim-right (plist-get answer :text)) "\n") "\n")
             "\n"))
   (mapconcat #'profd-analyse--table (plist-get answer :tables) "")
   (if (= 0 (length (plist-get answer :annotations))) ""
     (concat "\n" (profd-view-heading "lines")
             (mapconcat #'profd-analyse--said (plist-get answer :annotations) "")
             (if (> (plist-get answer :left) 0) (format "and %d lines more\n" (plist-get answer :left)) "")))))

(defun profd-analyse--answered (answer)
  "Show ANSWER, or ask what it asks."
  (let ((ask (plist-get answer :ask))
        (opened (plist-get answer :opened)))
    (cond
     (ask
      (if (y-or-n-p (concat (profd-clean (plist-get ask :text)) " "))
          (progn (setq profd-analyse--run (plist-put profd-analyse--run :trust (plist-get ask :hash)))
                 (profd-analyse--ask))
        (profd-view-write (concat (profd-clean (plist-get answer :name)) " did not run\n"))))
     (t
      (profd-view-write (profd-analyse--text answer))
      (when opened
        (profd-session-adopt opened (plist-get (plist-get opened :summary) :uri))
        (profd-say (concat profd-session-name " is shown")))))))

(defun profd-analyse--ask ()
  "Run the script anew."
  (profd-view-ask :analysis/run
                  (append profd-analyse--run (list :of (vector (list :profile profd-session-profile))))
                  #'profd-analyse--answered))

(defun profd-analyse--arguments (analysis)
  "Ask for the arguments of ANALYSIS; an empty answer is the default."
  (vconcat
   (delq nil
         (mapcar (lambda (argument)
                   (let* ((default (plist-get argument :default))
                          (value (read-string (format "%s (%s; default %s): " (plist-get argument :name)
                                                      (profd-clean (plist-get argument :documentation))
                                                      (if (equal default "") "none" default)))))
                     (and (not (equal value "")) (list :name (plist-get argument :name) :value value))))
                 (plist-get analysis :arguments)))))

;;;###autoload
(defun profd-analyse (&optional ask)
  "Run a script over the profile; with a prefix argument ASK for its arguments."
  (interactive "P")
  (profd-session-ensure)
  (when-let ((analysis (profd-choose "Analysis: " (profd-analyse--rows))))
    (let ((run (list :name (plist-get analysis :name)
                     :arguments (if ask (profd-analyse--arguments analysis) []))))
      (with-current-buffer (profd-view-buffer "*profd analysis*" 'profd-text-mode)
        (setq profd-analyse--run run
              profd-view-refresh-function nil)
        (profd-analyse--ask)))))

(provide 'profd-analyse)
;;; profd-analyse.el ends here
