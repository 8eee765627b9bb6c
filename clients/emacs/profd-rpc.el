;;; profd-rpc.el --- The connection to the daemon of profd  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; One connection for all buffers, started when first needed.  A
;; connection that dies is started again once; what was open is opened
;; again by who listens to `profd-rpc-restarted-hook'.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'project)
(require 'profd-base)

(defconst profd-rpc-timeout 15
  "Seconds to wait for the daemon to answer its first request.")

(defconst profd-rpc-restart-interval 60
  "Seconds within which a daemon that died twice is not started a third time.")

(defvar profd-rpc-settings-function #'ignore
  "Gives the settings, which the daemon is told as it starts.")

(defvar profd-rpc-restarted-hook nil
  "Run when the daemon died and is there again.")

(defvar profd-rpc-lost-hook nil
  "Run when the connection is gone although nobody stopped it.")

(defvar profd-rpc--handlers nil
  "What answers methods of the daemon: an alist of method and function.")

(defvar profd-rpc--connection nil)
(defvar profd-rpc--server nil "What the daemon said of itself.")
(defvar profd-rpc-root nil "The folder in which the daemon looks for sources.")
(defvar profd-rpc--leaving nil)
(defvar profd-rpc--restarting nil "Non-nil while it is started again, where it was before.")
(defvar profd-rpc--restarted nil "When the daemon was last started again.")

(defun profd-rpc-handle (method function)
  "Have FUNCTION take the parameters of METHOD, a symbol, from the daemon."
  (setf (alist-get method profd-rpc--handlers) function))

(defun profd-rpc-live-p ()
  "Whether the connection is up."
  (and profd-rpc--connection profd-rpc--server
       (jsonrpc-running-p profd-rpc--connection)))

(defun profd-rpc-version ()
  "The version of the daemon."
  (plist-get (plist-get profd-rpc--server :serverInfo) :version))

(defun profd-rpc--dispatch (_connection method params)
  "Hand PARAMS of METHOD to who listens, outside of the process filter."
  (when-let ((handler (alist-get (intern (format "%s" method)) profd-rpc--handlers)))
    (run-at-time 0 nil handler params))
  nil)

(defun profd-rpc--answer (_connection method _params)
  "Answer the request METHOD of the daemon."
  (pcase (format "%s" method)
    ((and name (or "workspace/inlayHint/refresh" "workspace/codeLens/refresh"))
     (profd-rpc--dispatch nil (intern name) nil))
    ((or "window/workDoneProgress/create" "workspace/textDocumentContent/refresh"
         "client/registerCapability")
     nil)
    (name (jsonrpc-error :code -32601 :message (format "no such method: %s" name)))))

(defun profd-rpc-program ()
  "The program of `profd-command', or an error that says what to do."
  (unless (and (consp profd-command) (cl-every #'stringp profd-command))
    (user-error "`profd-command' is no list of strings; for example (\"profd\" \"connect\")"))
  (or (executable-find (car profd-command))
      (user-error "%s is not an executable; install profd or set `profd-command'"
                  (car profd-command))))

(defun profd-rpc--start (root)
  "A connection whose process runs in ROOT."
  (let* ((default-directory root)
         (command (cons (profd-rpc-program) (cdr profd-command))))
    (make-instance
     'jsonrpc-process-connection
     :name "profd"
     :events-buffer-scrollback-size 0
     :notification-dispatcher #'profd-rpc--dispatch
     :request-dispatcher #'profd-rpc--answer
     :on-shutdown #'profd-rpc--ended
     :process (lambda ()
                (make-process :name "profd" :command command :connection-type 'pipe
                              :coding 'utf-8-emacs-unix :noquery t :file-handler nil
                              :stderr (get-buffer-create "*profd stderr*"))))))

(defun profd-rpc--initialize-params (root)
  "The first parameters, for a workspace at ROOT."
  (list :processId (emacs-pid)
        :clientInfo (list :name "Emacs" :version emacs-version)
        :rootUri (profd-uri (directory-file-name root))
        :workspaceFolders
        (vector (list :uri (profd-uri (directory-file-name root))
                      :name (file-name-nondirectory (directory-file-name root))))
        :initializationOptions (funcall profd-rpc-settings-function)
        :capabilities
        (list :general (list :positionEncodings ["utf-32"])
              :workspace (list :inlayHint (list :refreshSupport t))
              :profd (list :protocolVersion profd-protocol-version
                           :profileChanged t :project t :recorded t :selection t))))

(defun profd-rpc--check-version ()
  "Say so when daemon and package are of different versions."
  (let* ((native (plist-get (plist-get profd-rpc--server :capabilities) :profd))
         (theirs (plist-get native :protocolVersion)))
    (cond
     ((null native)
      (profd-warn (format "%s is no daemon of profd" (car profd-command))))
     ((not (equal theirs profd-protocol-version))
      (profd-warn
       (format "the daemon (profd %s) speaks version %s of the protocol, this package version %d; update the older one"
               (or (profd-rpc-version) "?") theirs profd-protocol-version))))))

(defun profd-rpc-connect ()
  "The connection, started if need be; an error says why there is none."
  (if (profd-rpc-live-p)
      profd-rpc--connection
    (let* ((root (if profd-rpc--restarting profd-rpc-root (profd-root)))
           (connection (profd-rpc--start root))
           (command (string-join profd-command " ")))
      (setq profd-rpc--connection connection
            profd-rpc-root root
            profd-rpc--server nil)
      (condition-case err
          (setq profd-rpc--server
                (jsonrpc-request connection :initialize (profd-rpc--initialize-params root)
                                 :timeout profd-rpc-timeout))
        ;; A process that ended before it was asked anything is an error without a name.
        ((error quit)
         (setq profd-rpc--connection nil)
         (let ((profd-rpc--leaving t))
           (ignore-errors (delete-process (jsonrpc--process connection))))
         (if (eq (car err) 'quit)
             (signal 'quit nil)
           (profd-log-add (format "%s: %s" command (profd-rpc--error-text err)))
           (user-error "`%s' gave no answer; try it in a terminal" command))))
      (jsonrpc-notify connection :initialized (make-hash-table))
      (profd-rpc--check-version)
      connection)))

(defun profd-rpc--error-text (err)
  "The sentence of ERR, an error of jsonrpc."
  (or (and (eq (car err) 'jsonrpc-error) (alist-get 'jsonrpc-error-message (cddr err)))
      (error-message-string err)))

(defun profd-rpc--ended (connection)
  "The process of CONNECTION has ended."
  (when (eq connection profd-rpc--connection)
    (let ((was-up profd-rpc--server))
      (setq profd-rpc--connection nil
            profd-rpc--server nil)
      (when (and was-up (not profd-rpc--leaving))
        (run-hooks 'profd-rpc-lost-hook)
        (run-at-time 0.1 nil #'profd-rpc--restart)))))

(defun profd-rpc--restart ()
  "Start the daemon again, once in a while, and say what happened in one message."
  (unless (profd-rpc-live-p)
    (if (and profd-rpc--restarted
             (< (- (float-time) profd-rpc--restarted) profd-rpc-restart-interval))
        (profd-warn "the daemon ended again; the next command of profd starts it")
      (setq profd-rpc--restarted (float-time))
      (condition-case err
          (progn
            (let ((profd-rpc--restarting t))
              (profd-rpc-connect))
            (profd-warn "the daemon ended and was started again; what was open is read anew")
            (run-hooks 'profd-rpc-restarted-hook))
        (error (profd-warn (format "the daemon ended and does not start again: %s"
                                   (error-message-string err))))))))

(defun profd-rpc-stop ()
  "End the connection; the daemon goes on for others."
  (when profd-rpc--connection
    (let ((profd-rpc--leaving t)
          (connection profd-rpc--connection)
          (was-up (profd-rpc-live-p)))
      ;; From now on nobody asks anything more.
      (setq profd-rpc--connection nil
            profd-rpc--server nil)
      (when was-up
        (ignore-errors
          (jsonrpc-request connection :shutdown nil :timeout 2)
          (jsonrpc-notify connection :exit nil)
          (with-timeout (0.5)
            (while (jsonrpc-running-p connection)
              (accept-process-output nil 0.02)))))
      (ignore-errors (delete-process (jsonrpc--process connection))))))

(defvar profd-rpc-before-request-hook nil
  "Run before every request: what is pending goes first.")

(defun profd-request (method params success &optional failure)
  "Ask the daemon METHOD with PARAMS; SUCCESS gets the answer, later.
FAILURE gets a sentence and a code; without it the sentence is shown.
Both run from the command loop.  Nil when there is no connection."
  (when (profd-rpc-live-p)
    (run-hooks 'profd-rpc-before-request-hook)
    (jsonrpc-async-request
     profd-rpc--connection method params
     :timeout nil
     :success-fn (lambda (result) (run-at-time 0 nil success result))
     :error-fn (lambda (problem)
                 (run-at-time 0 nil (or failure #'profd-rpc--show-problem)
                              (or (plist-get problem :message) "unknown error")
                              (plist-get problem :code))))
    t))

(defun profd-rpc--show-problem (text _code)
  "Show TEXT, what the daemon said is wrong."
  (profd-warn text))

(defun profd-call (method params)
  "Ask the daemon METHOD with PARAMS and wait for the answer."
  (let ((connection (profd-rpc-connect)))
    (run-hooks 'profd-rpc-before-request-hook)
    (condition-case err
        (jsonrpc-request connection method params)
      (jsonrpc-error (user-error "%s" (profd-clean (profd-rpc--error-text err)))))))

(defun profd-notify (method params)
  "Tell the daemon METHOD with PARAMS, if there is a connection."
  (when (profd-rpc-live-p)
    (jsonrpc-notify profd-rpc--connection method params)))

(provide 'profd-rpc)
;;; profd-rpc.el ends here
