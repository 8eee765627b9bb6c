;;; profd-record.el --- Record a command, and see what it costs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; `profd-record' runs a command under a profiler that suits it, shows
;; the profile, and says what became of the run before; `g' in its buffer
;; and `profd-record-again' anywhere run it once more.  `profd-changes'
;; compares the two runs.

;;; Code:

(require 'compile)
(require 'seq)
(require 'profd)

(defcustom profd-open-recordings t
  "Whether what you record in a terminal is shown, too.
Nil: only what `profd-record' records."
  :type 'boolean
  :group 'profd)

(defvar profd-record-history nil "Commands that were recorded.")
(defvar profd-record--shown nil "Names of recordings that were shown.")
(defvar-local profd-record--newest nil "The newest recording before the command ran.")

(defun profd-record--list ()
  "What was recorded in the project, the newest first."
  (profd-list (plist-get (profd-call :recording/list (make-hash-table)) :recordings)))

(defun profd-record--show (recording)
  "Show the profile of RECORDING, or say why there is none."
  (let ((name (plist-get recording :name))
        (text (plist-get recording :text))
        (uri (plist-get recording :uri)))
    (unless (member name profd-record--shown)
      (push name profd-record--shown)
      (if (or (null uri) (eq t (plist-get recording :failed)))
          (profd-warn text)
        (global-profd-mode 1)
        (profd-session-open
         uri
         (lambda (summary)
           (if (plist-get recording :before)
               (profd-record--compare (plist-get recording :before) text)
             (profd-say (format "%s  %s" text (profd-session-glance summary))))))))))

(defun profd-record--compare (before text)
  "Say what became of the recording at BEFORE, behind TEXT."
  (profd-request :profile/recordedAgain (list :profile profd-session-profile :before before)
                 (lambda (result)
                   (profd-say (format "%s  (%s)" (plist-get result :text)
                                      (substitute-command-keys "\\[profd-changes] compares"))))
                 (lambda (problem _code)
                   (profd-log-add problem)
                   (profd-say text))))

(defun profd-record-told (params)
  "The daemon says in PARAMS that something was recorded."
  (let ((recording (plist-get params :recording)))
    (when (and (eq t (plist-get recording :own))
               (or profd-open-recordings
                   (member (plist-get recording :command) profd-record-history)))
      (profd-record--show recording))))

(defun profd-record--ended (buffer status)
  "The command of BUFFER ended with STATUS: show what came of it."
  (with-current-buffer buffer
    (let* ((newest (car (profd-record--list)))
           (name (plist-get newest :name)))
      (if (and name (or (null profd-record--newest) (string-lessp profd-record--newest name)))
          (profd-record--show newest)
        (profd-warn (format "nothing was recorded (%s); %s says why" (string-trim status)
                            (buffer-name buffer)))))))

(define-compilation-mode profd-record-mode "Record"
  "What a command prints while it is recorded.
\\{profd-record-mode-map}"
  (setq-local compilation-scroll-output t)
  (setq profd-record--newest (plist-get (car (profd-record--list)) :name))
  (add-hook 'compilation-finish-functions #'profd-record--ended nil t))

(defun profd-record--start (arguments)
  "Run profd with ARGUMENTS for the shell, in the folder of the project."
  (let ((default-directory (profd-root)))
    (profd-move default-directory)
    (profd-rpc-connect)
    (display-buffer
     (compilation-start (concat (shell-quote-argument (profd-rpc-program)) " record " arguments)
                        #'profd-record-mode (lambda (_mode) "*profd record*")))))

;;;###autoload
(defun profd-record (command)
  "Run COMMAND, for the shell, under a profiler and show what it costs.
Words with a dash before the command are options of \"profd record\"."
  (interactive
   (list (read-shell-command (format "Record in %s: " (abbreviate-file-name (profd-root)))
                             (car profd-record-history) 'profd-record-history)))
  (when (string-blank-p command)
    (user-error "No command to record"))
  (unless (equal command (car profd-record-history))
    (push command profd-record-history))
  (profd-record--start (concat (if (string-prefix-p "-" command) "" "-- ") command)))

;;;###autoload
(defun profd-record-again ()
  "Run once more what was recorded last in this project."
  (interactive)
  (profd-record--start "--again"))

(defun profd-record--label (recording)
  "RECORDING in a line."
  (format "%s  %s  %s" (plist-get recording :started) (profd-clean (plist-get recording :command))
          (plist-get recording :tool)))

;;;###autoload
(defun profd-recordings ()
  "Open something that was recorded in this project."
  (interactive)
  (profd-move (profd-root))
  (profd-rpc-connect)
  (let* ((recordings (profd-record--list))
         (rows (mapcar (lambda (recording)
                         (cons (profd-record--label recording)
                               (cons recording (plist-get recording :text))))
                       recordings)))
    (unless rows
      (user-error "Nothing was recorded here; M-x profd-record does"))
    (let ((recording (profd-choose "Recording: " rows)))
      (unless (plist-get recording :uri)
        (user-error "%s" (profd-clean (plist-get recording :text))))
      (global-profd-mode 1)
      (profd-session-open (plist-get recording :uri)))))

;;;; The run before

(defun profd-record--before ()
  "The run before what is shown, as a part of a comparison."
  (let ((recording (seq-find (lambda (recording) (equal profd-session-uri (plist-get recording :uri)))
                             (profd-record--list))))
    (if-let ((before (plist-get recording :before)))
        (list :uri before)
      (condition-case nil
          (let ((again (profd-call :profile/recordedAgain (list :profile profd-session-profile))))
            (append (list :uri (plist-get again :before))
                    (when-let ((member (plist-get again :member)))
                      (list :member member))))
        (user-error
         (user-error "No run before %s is known; M-x profd-diff compares any two" profd-session-name))))))

;;;###autoload
(defun profd-changes ()
  "List what changed since the run before; of a comparison what changed in it."
  (interactive)
  (profd-session-ensure)
  (if (profd-session-diff-p)
      (profd-hotspots)
    (profd-session-open-diff (profd-record--before) (list :profile profd-session-profile)
                             (lambda (_summary) (profd-hotspots)))))

(provide 'profd-record)
;;; profd-record.el ends here
