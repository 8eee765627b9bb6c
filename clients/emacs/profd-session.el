;;; profd-session.el --- Which profile profd speaks of  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The profile, the metric and the filters that hints, lists and pictures
;; are of, and the commands that change them.

;;; Code:

(require 'seq)
(require 'profd-base)
(require 'profd-rpc)

(defvar profd-session-profile nil "Handle of the profile that is shown.")
(defvar profd-session-revision 0)
(defvar profd-session-name "")
(defvar profd-session-uri nil)
(defvar profd-session-metric nil "The metric of the last hints.")
(defvar profd-session-filters nil "Filters of this Emacs, oldest first.")
(defvar profd-session--undone nil "Filters that were undone, the last one first.")
(defvar profd-session--opened nil "URIs of what was opened here, newest first.")
(defvar profd-session--opening 0 "How many profiles are being opened.")
(defvar profd-session--left nil "What was shown in another project, to be said with what is shown next.")
(defvar profd-session--project nil "What the project file says.")

(defvar profd-session-changed-hook nil
  "Run when what is shown is to be asked for again.")

(defvar profd-session-opened-hook nil
  "Run when a profile was opened or chosen here.")

(defun profd-session-changed ()
  "Have all that is shown be asked for again."
  (run-hooks 'profd-session-changed-hook))

(defun profd-session-settings ()
  "What the daemon is told of options and filters."
  (append (list :inlayHints t)
          (and (numberp profd-threshold) (list :threshold profd-threshold))
          (and profd-session-filters (list :filters (vconcat profd-session-filters)))))

(setq profd-rpc-settings-function #'profd-session-settings)

(defun profd-session--show (profile revision name uri)
  "Show PROFILE at REVISION, called NAME, from URI."
  (unless (equal profile profd-session-profile)
    (setq profd-session-metric nil))
  (setq profd-session-profile profile
        profd-session-revision (or revision 0)
        profd-session-name (profd-clean (or name ""))
        profd-session-uri uri)
  (profd-session-changed))

(defun profd-session-diff-p ()
  "Whether what is shown is a comparison."
  (and profd-session-uri (string-prefix-p "diff:" profd-session-uri)))

;;;; Opening and closing

(defun profd-session-glance (summary)
  "SUMMARY in a line."
  (let ((parts (list (plist-get (plist-get summary :records) :text)))
        (metric (seq-find (lambda (metric) (equal (plist-get metric :name) (plist-get summary :metric)))
                          (plist-get summary :metrics)))
        (lost (seq-some (lambda (row) (not (equal (plist-get row :severity) "info")))
                        (plist-get summary :report))))
    (setq parts (if (eql 0 (plist-get (plist-get summary :records) :value))
                    nil
                  (list (concat (car parts) " records"))))
    (when metric
      (push (format "%s %s" (or (plist-get metric :title) (plist-get metric :name))
                    (plist-get metric :text))
            parts))
    (format "%s: %s%s%s" (plist-get summary :name) (string-join parts ", ")
            (if lost ", not everything could be read (M-x profd-summary)" "")
            (if profd-session--left
                (concat "; no longer shown: " (prog1 profd-session--left (setq profd-session--left nil)))
              ""))))

(defun profd-session-leave (root)
  "The project at ROOT is left: remember to say what is closed there."
  (when profd-session--opened
    (setq profd-session--left
          (format "%s of %s"
                  (string-join (mapcar (lambda (uri)
                                         (file-name-nondirectory (or (profd-file uri) uri)))
                                       (reverse profd-session--opened))
                               ", ")
                  (abbreviate-file-name root)))))

(defun profd-session-adopt (result uri)
  "Show the profile of RESULT, which URI opens again."
  (let ((summary (plist-get result :summary)))
    (setq profd-session--opened (cons uri (delete uri profd-session--opened)))
    (profd-session--show (plist-get result :profile) (plist-get result :revision)
                         (plist-get summary :name) uri)
    summary))

(defun profd-session--request (method params done)
  "Open with METHOD and PARAMS; DONE gets the summary."
  (profd-rpc-connect)
  (setq profd-session--opening (1+ profd-session--opening))
  (profd-request
   method params
   (lambda (result)
     (setq profd-session--opening (1- profd-session--opening))
     (run-hooks 'profd-session-opened-hook)
     (funcall done (profd-session-adopt
                    result (or (plist-get params :uri)
                               (plist-get (plist-get result :summary) :uri)))))
   (lambda (text _code)
     (setq profd-session--opening (1- profd-session--opening))
     (profd-warn text))))

(defun profd-session-open (uri &optional done)
  "Open the profile at URI and show it; DONE gets its summary."
  (profd-session--request
   :profile/open (list :uri uri)
   (or done (lambda (summary) (profd-say (profd-session-glance summary))))))

(defun profd-session-open-diff (before after &optional done)
  "Open what became of BEFORE in AFTER, both parts as the protocol has them.
DONE gets its summary."
  (profd-session--request
   :profile/diff (list :before (vector before) :after (vector after))
   (or done (lambda (summary) (profd-say (format "%s is shown" (plist-get summary :name)))))))

(defun profd-session--reopen ()
  "Open again what was open when the daemon ended."
  (let* ((uris (reverse profd-session--opened))
         (shown profd-session-uri)
         (metric profd-session-metric)
         (sorted (append (delete shown uris) (and shown (member shown profd-session--opened)
                                                  (list shown)))))
    (setq profd-session-profile nil)
    (if (null sorted)
        (profd-session-sync)
      (dolist (uri sorted)
        (setq profd-session--opening (1+ profd-session--opening))
        (profd-request
         :profile/open
         (append (list :uri uri)
                 (and metric (equal uri shown) (list :options (list :metric metric))))
         (lambda (result)
           (setq profd-session--opening (1- profd-session--opening))
           (profd-session-adopt result uri))
         (lambda (text _code)
           (setq profd-session--opening (1- profd-session--opening))
           (profd-warn text)))))))

(defun profd-session-sync (&optional done)
  "Show the profile that the daemon means, then call DONE."
  (profd-request
   :profile/list (make-hash-table)
   (lambda (result)
     (let ((entry (seq-find (lambda (entry)
                              (and (eq (plist-get entry :default) t)
                                   (eq (plist-get entry :attached) t)))
                            (plist-get result :profiles))))
       (if entry
           (profd-session--show (plist-get entry :profile) (plist-get entry :revision)
                                (plist-get entry :name) (plist-get entry :uri))
         (profd-session--show nil nil nil nil)))
     (when done (funcall done)))))

(defun profd-session-ensure ()
  "Have a profile that is shown, or say how to open one."
  (profd-rpc-connect)
  (let ((deadline (+ (float-time) profd-rpc-timeout)))
    (while (and (> profd-session--opening 0) (profd-rpc-live-p) (< (float-time) deadline))
      (accept-process-output nil 0.02)))
  (unless profd-session-profile
    (let (asked)
      (profd-session-sync (lambda () (setq asked t)))
      (let ((deadline (+ (float-time) profd-rpc-timeout)))
        (while (and (not asked) (profd-rpc-live-p) (< (float-time) deadline))
          (accept-process-output nil 0.02)))))
  (unless profd-session-profile
    (user-error "No profile is open; M-x profd-open opens one")))

(defun profd-session-profiles ()
  "The open profiles of the daemon."
  (seq-remove (lambda (entry) (equal (plist-get entry :state) "opening"))
              (profd-list (plist-get (profd-call :profile/list (make-hash-table)) :profiles))))

(defun profd-session-labels (entries)
  "An alist of names that differ and ENTRIES, those of this Emacs first."
  (let* ((mine (seq-filter (lambda (entry) (eq (plist-get entry :mine) t)) entries))
         (sorted (append mine (seq-difference entries mine)))
         (names (mapcar (lambda (entry) (profd-clean (plist-get entry :name))) sorted))
         (longer (seq-mapn (lambda (entry name)
                             (format "%s (%s)" name (profd-session--folder entry)))
                           sorted names)))
    (seq-mapn
     (lambda (entry name long)
       (cons (cond
              ((profd-session--only-p name names) name)
              ((profd-session--only-p long longer) long)
              (t (format "%s (%s)" name
                         (let ((file (profd-file (plist-get entry :uri))))
                           (if file
                               (abbreviate-file-name (profd-clean file))
                             (profd-clean (plist-get entry :profile)))))))
             entry))
     sorted names longer)))

(defun profd-session--only-p (name names)
  "Whether NAME is once in NAMES."
  (= 1 (seq-count (lambda (other) (equal other name)) names)))

(defun profd-session--folder (entry)
  "The last folder of the file of ENTRY; that of a recording tells when it was."
  (let ((file (profd-file (plist-get entry :uri))))
    (if file
        (profd-clean (file-name-nondirectory (directory-file-name (file-name-directory file))))
      (profd-clean (plist-get entry :profile)))))

(defun profd-session-select (profile)
  "Mean PROFILE, a handle, from now on."
  (profd-call :profile/select (list :profile profile))
  (run-hooks 'profd-session-opened-hook)
  (profd-session-sync (lambda () (profd-say (concat profd-session-name " is shown")))))

(defun profd-session-close ()
  "Close the profile that is shown."
  (profd-session-ensure)
  (let ((name profd-session-name)
        (uri profd-session-uri))
    (profd-call :profile/close (list :profile profd-session-profile))
    (setq profd-session--opened (delete uri profd-session--opened))
    (profd-session--show nil nil nil nil)
    (profd-say (concat name " is closed"))
    (profd-session-sync)))

(defun profd-session-reload ()
  "Read the profile again when its file changed."
  (profd-session-ensure)
  (let ((before profd-session-revision))
    (profd-request
     :profile/open (list :uri profd-session-uri)
     (lambda (result)
       (if (eql before (plist-get result :revision))
           (profd-say (concat profd-session-name " is up to date"))
         (setq profd-session-revision (plist-get result :revision)))
       (profd-session-changed)))))

;;;; Metric and filters

(defun profd-session-metrics ()
  "The metrics of the profile that is shown."
  (profd-session-ensure)
  (profd-list (plist-get (profd-call :metric/list (list :profile profd-session-profile)) :metrics)))

(defun profd-session-set-metric (name)
  "Show the metric NAME."
  (profd-call :workspace/executeCommand
              (list :command "profd.metric" :arguments (vector name profd-session-profile)))
  (setq profd-session-metric name)
  (profd-session-changed))

(defun profd-session--send-settings ()
  "Tell the daemon the settings as they are now."
  (profd-notify :workspace/didChangeConfiguration (list :settings (profd-session-settings)))
  (profd-session-changed))

(defun profd-session-filter (clause)
  "Look through CLAUSE, a filter in its text form, beside those there are."
  (unless (member clause profd-session-filters)
    (setq profd-session-filters (append profd-session-filters (list clause))
          profd-session--undone nil)
    (profd-session--send-settings))
  (profd-say (concat "filters: " (string-join profd-session-filters " | "))))

(defun profd-session--say-filters ()
  "Say which filters are on."
  (profd-say (if profd-session-filters
                 (concat "filters: " (string-join profd-session-filters " | "))
               "no filters")))

(defun profd-undo ()
  "Take back the last filter."
  (interactive)
  (unless profd-session-filters
    (user-error "No filter to undo"))
  (push (car (last profd-session-filters)) profd-session--undone)
  (setq profd-session-filters (butlast profd-session-filters))
  (profd-session--send-settings)
  (profd-session--say-filters))

(defun profd-redo ()
  "Apply the filter again that was undone last."
  (interactive)
  (unless profd-session--undone
    (user-error "No filter to redo"))
  (setq profd-session-filters (append profd-session-filters (list (pop profd-session--undone))))
  (profd-session--send-settings)
  (profd-session--say-filters))

(defun profd-mine ()
  "My code only, or all of it again."
  (interactive)
  (profd-session-ensure)
  (if (member "mine" profd-session-filters)
      (progn (setq profd-session-filters (remove "mine" profd-session-filters))
             (profd-session--send-settings)
             (profd-say "all code"))
    (profd-session-filter "mine")
    (profd-say "my code only: other code is folded")))

(defun profd-session-clauses (done)
  "Call DONE with the filters of the project and of this Emacs, as texts."
  (profd-request :view/hotspots
                 (list :profile profd-session-profile :workspaceFilters t :limit 1)
                 (lambda (result) (funcall done (profd-list (plist-get result :filters))))))

(defun profd-session-spec (shape clauses)
  "The view of SHAPE through CLAUSES, as text."
  (string-join (cons shape clauses) " | "))

;;;; What the daemon tells

(defun profd-session--recorded-again (params)
  "Say what became of the profile of PARAMS, whose file was recorded again."
  (let ((text (or (plist-get params :message) (concat profd-session-name " was read anew"))))
    (if (eq (plist-get params :previous) t)
        (profd-request :profile/recordedAgain (list :profile (plist-get params :profile))
                       (lambda (result) (profd-say (or (plist-get result :text) text)))
                       (lambda (_text _code) (profd-say text)))
      (profd-say text))))

(defun profd-session--profile-changed (params)
  "A profile was opened, replaced or closed, as PARAMS say."
  (let ((reason (plist-get params :reason))
        (message (plist-get params :message)))
    (cond
     ((and profd-session-profile (equal (plist-get params :profile) profd-session-profile))
      (pcase reason
        ("reloaded"
         (setq profd-session-revision (plist-get params :revision))
         (profd-session-changed)
         (profd-session--recorded-again params))
        ("reloadFailed"
         (profd-warn (or message (concat profd-session-name
                                         " changed and cannot be read; the older numbers stay"))))
        ("closed"
         (profd-say (or message (concat profd-session-name " was closed")))
         (setq profd-session--opened (delete (plist-get params :uri) profd-session--opened))
         (profd-session--show nil nil nil nil)
         (profd-session-sync))
        ((or "defaultChanged" "metricsChanged")
         (profd-session-changed))))
     ;; What was opened here stays, whatever others open.
     ((and (= 0 profd-session--opening) (null profd-session--opened)
           (member reason '("opened" "defaultChanged")))
      (profd-session-sync)))))

(profd-rpc-handle 'profile/changed #'profd-session--profile-changed)
(profd-rpc-handle 'workspace/inlayHint/refresh (lambda (_params) (profd-session-changed)))
(profd-rpc-handle 'profd/project
                  (lambda (params)
                    (setq profd-session--project params)
                    (mapc #'profd-warn (plist-get params :problems))
                    (profd-session-changed)))
(profd-rpc-handle 'window/logMessage
                  (lambda (params) (profd-log-add (plist-get params :message))))
(profd-rpc-handle 'window/showMessage
                  (lambda (params)
                    (let ((text (plist-get params :message)))
                      (cond ((<= (or (plist-get params :type) 3) 2) (profd-warn text))
                            ;; What is being read there is an answer to the user.
                            ((string-prefix-p "profd:" (or (current-message) "")) (profd-log-add text))
                            (t (profd-say text))))))

(defun profd-session--lost ()
  "The daemon is gone: handles mean nothing any more."
  (setq profd-session-profile nil
        profd-session--opening 0)
  (profd-session-changed))

(defun profd-session-forget ()
  "Nothing is open any more."
  (setq profd-session--opened nil
        profd-session-uri nil)
  (profd-session--lost))

(add-hook 'profd-rpc-lost-hook #'profd-session--lost)
(add-hook 'profd-rpc-restarted-hook #'profd-session--reopen)

(provide 'profd-session)
;;; profd-session.el ends here
