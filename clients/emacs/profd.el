;;; profd.el --- What code costs, beside the code  -*- lexical-binding: t; -*-

;; Author: The profd authors
;; Maintainer: The profd authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, languages
;; URL: https://github.com/profd/profd
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Costs of lines at their ends, from the profile your profiler wrote.
;;
;;     M-x profd-open RET cpu.pprof RET
;;
;; shows them in every file that the profile has something to say of, and
;; they follow when the file is recorded again; `profd-record' runs a
;; command under a profiler first.  There are no keys by default:
;;
;;     (global-set-key (kbd "C-c p") 'profd-command-map)
;;
;; and `?' behind it shows all commands.  The daemon computes and words
;; everything; this package places it.

;;; Code:

(require 'seq)
(require 'profd-base)
(require 'profd-rpc)
(require 'profd-sync)
(require 'profd-session)
(require 'profd-annotate)
(require 'profd-hover)
(require 'profd-view)
(require 'profd-lists)
(require 'profd-tree)
(require 'profd-report)
(require 'profd-flame)
(require 'profd-xref)
(require 'profd-sets)
(require 'profd-timeline)
(require 'profd-assembly)
(require 'profd-selection)

(autoload 'profd-menu "profd-menu" nil t)
(autoload 'profd-compile "profd-compile" nil t)
(autoload 'profd-analyse "profd-analyse" nil t)
(autoload 'profd-record "profd-record" nil t)
(autoload 'profd-record-again "profd-record" nil t)
(autoload 'profd-recordings "profd-record" nil t)
(autoload 'profd-changes "profd-record" nil t)
(autoload 'profd-record-told "profd-record")
(profd-rpc-handle 'profd/recorded #'profd-record-told)

(defvar profd-command-map
  (let ((map (make-sparse-keymap)))
    (dolist (binding '(("h" . profd-hotspots) ("t" . profd-tree) ("F" . profd-flame)
                       ("B" . profd-browse) ("r" . profd-report) ("S" . profd-summary)
                       ("e" . profd-hover) ("c" . profd-callers) ("w" . profd-within)
                       ("v" . profd-annotate-toggle) ("o" . profd-open) ("s" . profd-select)
                       ("d" . profd-diff) ("D" . profd-changes)
                       ("R" . profd-record) ("G" . profd-record-again)
                       ("l" . profd-recordings) ("x" . profd-compile)
                       ("a" . profd-assembly) ("T" . profd-timeline) ("K" . profd-sets)
                       ("A" . profd-analyse) ("." . profd-selection) ("g" . profd-reload)
                       ("k" . profd-close) ("m" . profd-metric) ("f" . profd-filter)
                       ("i" . profd-mine) ("u" . profd-undo) ("U" . profd-redo)
                       ("L" . profd-log) ("H" . profd-help) ("?" . profd-menu)))
      (define-key map (kbd (car binding)) (cdr binding)))
    map)
  "Commands of profd, behind a prefix that you choose.
See `profd-keymap-prefix'.")
;;;###autoload (autoload 'profd-command-map "profd" "Commands of profd." nil 'keymap)
(fset 'profd-command-map profd-command-map)

(defvar profd-mode-map (make-sparse-keymap)
  "Keys of files whose costs are shown: none but `profd-keymap-prefix'.")

(defcustom profd-keymap-prefix nil
  "The prefix of the commands of profd, as `kbd' takes it; nil is none."
  :type '(choice (const :tag "None" nil) string)
  :group 'profd
  :set (lambda (symbol value)
         (dolist (map (list profd-mode-map profd-view-map))
           (when (and (boundp symbol) (symbol-value symbol))
             (define-key map (kbd (symbol-value symbol)) nil))
           (when value
             (define-key map (kbd value) 'profd-command-map)))
         (set-default symbol value)))

(defun profd--lighter ()
  "What the mode line says: the profile and the metric that are shown."
  (if (and profd-session-profile (profd-rpc-live-p))
      (concat " profd[" (profd-mode-line-text (profd-fit profd-session-name 24))
              (if profd-session-metric (concat " " (profd-mode-line-text profd-session-metric)) "")
              (if profd-session-filters (format " %df" (length profd-session-filters)) "")
              "]")
    " profd"))

;;;###autoload
(define-minor-mode profd-mode
  "What lines cost, at their ends."
  :lighter (:eval (profd--lighter))
  (if profd-mode
      (progn
        (add-hook 'eldoc-documentation-functions #'profd-hover-eldoc 10 t)
        (add-hook 'xref-backend-functions #'profd-xref-backend 95 t)
        (add-hook 'after-revert-hook #'profd-annotate-refresh nil t)
        ;; Which overlays are hints is forgotten with the other variables of the buffer.
        (add-hook 'change-major-mode-hook #'profd-annotate-clear nil t)
        (add-hook 'window-configuration-change-hook #'profd-annotate-entered nil t)
        (profd-annotate-refresh)
        (profd--maybe-start))
    (remove-hook 'eldoc-documentation-functions #'profd-hover-eldoc t)
    (remove-hook 'xref-backend-functions #'profd-xref-backend t)
    (remove-hook 'after-revert-hook #'profd-annotate-refresh t)
    (remove-hook 'change-major-mode-hook #'profd-annotate-clear t)
    (remove-hook 'window-configuration-change-hook #'profd-annotate-entered t)
    (profd-annotate-clear)
    (profd-sync-detach)))

(defun profd--turn-on ()
  "Turn `profd-mode' on where a file of this machine is visited."
  (when (profd-source-p)
    (profd-mode)))

;;;###autoload
(define-globalized-minor-mode global-profd-mode profd-mode profd--turn-on
  :group 'profd
  (if global-profd-mode
      (add-hook 'window-buffer-change-functions #'profd-annotate-entered)
    (remove-hook 'window-buffer-change-functions #'profd-annotate-entered)))

(defvar profd--started nil "Project files that a connection was made for.")

(defun profd--maybe-start ()
  "Start where there is a project file, which lists its profiles."
  (when-let ((folder (and profd-auto-start (locate-dominating-file default-directory ".profd.toml"))))
    (unless (member folder profd--started)
      (push folder profd--started)
      (let ((buffer (current-buffer)))
        (run-with-idle-timer
         0.1 nil
         (lambda ()
           (when (buffer-live-p buffer)
             (with-current-buffer buffer
               (condition-case err
                   (progn (profd-rpc-connect)
                          (unless profd-session-profile
                            (profd-session-sync)))
                 (user-error (profd-log-add (error-message-string err))))))))))))

;;;; Commands

(defun profd--open (uri)
  "Open the profile at URI and show its costs in files."
  (let ((default-directory (if (or buffer-file-name (not (profd-file uri)))
                               default-directory
                             (file-name-directory (profd-file uri)))))
    (profd-move (profd-root))
    (global-profd-mode 1)
    (profd-session-open uri)))

(defun profd-move (root)
  "Work in the project at ROOT: the daemon looks for sources there."
  (when (and (profd-rpc-live-p) (not (equal root profd-rpc-root)))
    (profd-session-leave profd-rpc-root)
    (profd-rpc-stop)
    (profd-session-forget)))

;;;###autoload
(defun profd-open (file)
  "Open the profile FILE and show what lines cost."
  (interactive
   (list (read-file-name "Profile: "
                         (if-let ((project (project-current nil))) (project-root project)
                           default-directory)
                         nil t)))
  (profd--open (profd-uri-of file)))

(defun profd-close ()
  "Close the profile that is shown."
  (interactive)
  (profd-session-close))

(defun profd-reload ()
  "Read the profile again when its file changed."
  (interactive)
  (profd-session-reload))

(defun profd-choose (prompt rows)
  "Ask with PROMPT for one of ROWS, an alist of names and (VALUE . REMARK).
An empty answer is the first."
  (let* ((completion-extra-properties
          (list :annotation-function
                (lambda (name) (concat "  " (profd-clean (cddr (assoc name rows)))))))
         (name (completing-read prompt
                                (lambda (string predicate action)
                                  (if (eq action 'metadata)
                                      '(metadata (display-sort-function . identity))
                                    (complete-with-action action rows string predicate)))
                                nil t nil nil (caar rows))))
    (cadr (assoc name rows))))

(defun profd--profile-rows ()
  "The open profiles to choose from."
  (mapcar (lambda (pair)
            (let ((entry (cdr pair)))
              (cons (car pair)
                    (cons entry
                          (format "%s %s%s" (or (plist-get entry :metric) "")
                                  (or (plist-get (plist-get entry :total) :text) "")
                                  (if (eq t (plist-get entry :mine)) "" "  (of another window)"))))))
          (profd-session-labels (profd-session-profiles))))

(defun profd-select ()
  "Show another of the open profiles."
  (interactive)
  (profd-rpc-connect)
  (let ((rows (profd--profile-rows)))
    (unless rows
      (user-error "No profile is open; M-x profd-open opens one"))
    (when-let ((entry (profd-choose "Profile: " rows)))
      (profd-session-select (plist-get entry :profile)))))

(defun profd-metric (name)
  "Show the metric NAME of the profile."
  (interactive
   (list (profd-choose
          "Metric: "
          (mapcar (lambda (metric)
                    (cons (plist-get metric :name)
                          (cons (plist-get metric :name)
                                (format "%s%s" (plist-get metric :text)
                                        (if (eq t (plist-get metric :default)) "  (default)" "")))))
                  (profd-session-metrics)))))
  (when name
    (profd-session-set-metric name)))

(defconst profd--filter-kinds
  '(("keep function " . "stacks through it alone")
    ("drop function " . "without the stacks through it")
    ("hide function " . "its cost goes to its callers")
    ("collapse function " . "runs of it as one")
    ("keep module " . "stacks through a library or program")
    ("hide module " . "its cost goes to its callers")
    ("keep file " . "stacks through a source file")
    ("keep package " . "stacks through a package")
    ("thread " . "of one thread")
    ("keep kind " . "of one kind of work: gc, allocation, locking, io")
    ("drop kind " . "without a kind of work")
    ("time " . "a window of time: 1s..2s")
    ("label " . "KEY = VALUE")
    ("collapse recursion" . "calls of itself as one")
    ("mine" . "my code only"))
  "Beginnings of filters and what they do.")

(defun profd-filter (clause)
  "Look through CLAUSE, a filter such as \"hide module libc.so.6\"."
  (interactive
   (progn
     (profd-session-ensure)
     (let* ((completion-extra-properties
             (list :annotation-function
                   (lambda (kind) (concat "  " (cdr (assoc kind profd--filter-kinds))))))
            (kind (completing-read "Filter: " profd--filter-kinds nil nil)))
       (list (cond
              ((not (string-suffix-p " " kind)) kind)
              ((string-suffix-p " function " kind)
               (concat kind (profd-quote (completing-read (concat kind "… ") (profd-xref-table)))))
              (t (concat kind (read-string kind))))))))
  (profd-session-filter clause))

(defun profd--part (prompt rows)
  "Ask with PROMPT for one of ROWS, open profiles, or a file to compare."
  (let* ((name (completing-read (concat prompt " (an open profile, or a file): ")
                                (apply-partially #'completion-table-with-predicate
                                                 (completion-table-in-turn
                                                  (mapcar #'car rows) #'completion-file-name-table)
                                                 nil t)))
         (entry (cadr (assoc name rows))))
    (if entry
        (list :profile (plist-get entry :profile))
      (list :uri (profd-uri-of name)))))

;;;###autoload
(defun profd-diff (before after)
  "Show what became of BEFORE in AFTER, files, or parts as the protocol has them."
  (interactive
   (progn
     (profd-rpc-connect)
     (let ((rows (profd--profile-rows)))
       (list (profd--part "Before" rows) (profd--part "After" rows)))))
  (global-profd-mode 1)
  (profd-session-open-diff (if (stringp before) (list :uri (profd-uri-of before)) before)
                           (if (stringp after) (list :uri (profd-uri-of after)) after)))

;;;###autoload
(defun profd-help ()
  "Read the manual of profd."
  (interactive)
  (info (expand-file-name "profd.info" (file-name-directory (locate-library "profd")))))

(defun profd--leave ()
  "End the connection with Emacs."
  (profd-rpc-stop))

(add-hook 'kill-emacs-hook #'profd--leave)

(provide 'profd)
;;; profd.el ends here
