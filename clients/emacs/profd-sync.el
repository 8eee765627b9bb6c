;;; profd-sync.el --- Texts of buffers for the daemon of profd  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The daemon sees unsaved text, so that costs move with it and changed
;; lines are known to be stale.  Edits are noted as they are made and
;; sent together, before the next request or when Emacs is idle.

;;; Code:

(require 'profd-base)
(require 'profd-rpc)

(defconst profd-sync-limit (* 8 1024 1024)
  "Characters of the largest buffer whose text is sent.")

(defconst profd-sync-delay 0.2
  "Idle seconds after which edits are sent.")

(defvar profd-sync-sent-functions nil
  "Called with a buffer whose edits were sent.")

(defvar-local profd-sync--connection nil "The connection that knows this buffer.")
(defvar-local profd-sync--uri nil)
(defvar-local profd-sync--version 0)
(defvar-local profd-sync--edits nil
  "Edits not sent, newest first: events, or `all' when the text is sent whole.")
(defvar-local profd-sync--before nil "Where the edit that is under way begins and ends.")
(defvar profd-sync--pending nil "Buffers with edits that were not sent.")
(defvar profd-sync--timer nil)

(defun profd-sync-uri ()
  "The URI of the current buffer's file."
  (profd-uri (file-truename buffer-file-name)))

(defun profd-sync--text ()
  "All of the current buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun profd-sync--position (position)
  "POSITION as line and column of the widened buffer."
  (save-excursion
    (goto-char position)
    (let ((line (1- (line-number-at-pos position t))))
      (list :line line
            :character (- position (save-restriction
                                     (widen)
                                     (let ((inhibit-field-text-motion t))
                                       (line-beginning-position))))))))

(defun profd-sync-attached-p ()
  "Whether the daemon knows the text of the current buffer."
  (and profd-sync--connection
       (eq profd-sync--connection profd-rpc--connection)))

(defun profd-sync-attach ()
  "Let the daemon see the text of the current buffer; nil when it does not."
  (cond
   ((not (and (profd-rpc-live-p) (profd-source-p))) nil)
   ((profd-sync-attached-p) t)
   ((> (buffer-size) profd-sync-limit) nil)
   (t
    (setq profd-sync--connection profd-rpc--connection
          profd-sync--uri (profd-sync-uri)
          profd-sync--version 1
          profd-sync--edits nil)
    (add-hook 'before-change-functions #'profd-sync--before-change nil t)
    (add-hook 'after-change-functions #'profd-sync--after-change nil t)
    (add-hook 'after-save-hook #'profd-sync--saved nil t)
    (add-hook 'kill-buffer-hook #'profd-sync-detach nil t)
    (add-hook 'before-revert-hook #'profd-sync-detach nil t)
    (add-hook 'change-major-mode-hook #'profd-sync-detach nil t)
    (profd-notify :textDocument/didOpen
                  (list :textDocument
                        (list :uri profd-sync--uri
                              :languageId (string-remove-suffix "-mode" (symbol-name major-mode))
                              :version 1
                              :text (profd-sync--text))))
    t)))

(defun profd-sync-detach ()
  "Let the daemon take the file for the text again."
  (when profd-sync--connection
    (remove-hook 'before-change-functions #'profd-sync--before-change t)
    (remove-hook 'after-change-functions #'profd-sync--after-change t)
    (remove-hook 'after-save-hook #'profd-sync--saved t)
    (setq profd-sync--pending (delq (current-buffer) profd-sync--pending))
    (when (profd-sync-attached-p)
      (profd-notify :textDocument/didClose (list :textDocument (list :uri profd-sync--uri))))
    (setq profd-sync--connection nil
          profd-sync--edits nil)))

(defun profd-sync--before-change (begin end)
  "Note where the text from BEGIN to END is before it changes."
  (unless (eq profd-sync--edits 'all)
    (setq profd-sync--before
          (let ((from (profd-sync--position begin)))
            (list begin end from
                  (if (= begin end) from (profd-sync--position end)))))))

(defun profd-sync--after-change (begin end length)
  "Note that LENGTH characters became the text from BEGIN to END."
  (unless (eq profd-sync--edits 'all)
    (pcase profd-sync--before
      (`(,(pred (= begin)) ,before-end ,from ,to)
       (if (= length (- before-end begin))
           (push (list :range (list :start from :end to)
                       :text (buffer-substring-no-properties begin end))
                 profd-sync--edits)
         (setq profd-sync--edits 'all)))
      ;; Some changes are told otherwise than they are made.
      (_ (setq profd-sync--edits 'all))))
  (setq profd-sync--before nil)
  (unless (memq (current-buffer) profd-sync--pending)
    (push (current-buffer) profd-sync--pending))
  (when profd-sync--timer
    (cancel-timer profd-sync--timer))
  (setq profd-sync--timer (run-with-idle-timer profd-sync-delay nil #'profd-sync--idle)))

(defun profd-sync-flush ()
  "Send the edits of all buffers."
  (dolist (buffer (prog1 profd-sync--pending (setq profd-sync--pending nil)))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (when (and profd-sync--edits (profd-sync-attached-p))
          (let ((edits profd-sync--edits))
            (setq profd-sync--edits nil)
            (setq profd-sync--version (1+ profd-sync--version))
            (profd-notify :textDocument/didChange
                          (list :textDocument (list :uri profd-sync--uri
                                                    :version profd-sync--version)
                                :contentChanges
                                (if (eq edits 'all)
                                    (vector (list :text (profd-sync--text)))
                                  (vconcat (nreverse edits)))))))))))

(defun profd-sync--idle ()
  "Send edits, and tell who wants to ask about the text now."
  (setq profd-sync--timer nil)
  (let ((buffers profd-sync--pending))
    (profd-sync-flush)
    (dolist (buffer buffers)
      (when (buffer-live-p buffer)
        (run-hook-with-args 'profd-sync-sent-functions buffer)))))

(defun profd-sync--saved ()
  "Tell the daemon that the file was written."
  (if (equal profd-sync--uri (profd-sync-uri))
      (when (profd-sync-attached-p)
        (profd-sync-flush)
        (profd-notify :textDocument/didSave (list :textDocument (list :uri profd-sync--uri))))
    ;; It was written under another name.
    (profd-sync-detach)
    (profd-sync-attach)))

(defun profd-sync-document ()
  "The current buffer, for a request."
  (list :uri (or profd-sync--uri (profd-sync-uri))))

(defun profd-sync-here ()
  "The place of point, for a request."
  (profd-sync--position (point)))

(add-hook 'profd-rpc-before-request-hook #'profd-sync-flush)

(provide 'profd-sync)
;;; profd-sync.el ends here
