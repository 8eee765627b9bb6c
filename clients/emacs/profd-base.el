;;; profd-base.el --- Options, messages and texts of profd  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; What the other files of profd lean on: the options, what is said and
;; remembered, texts of profiles made harmless, file names and URIs.

;;; Code:

(require 'subr-x)
(require 'url-util)

(defgroup profd nil
  "What code costs, beside the code, from the profile your profiler wrote."
  :group 'tools
  :prefix "profd-"
  :link '(url-link "https://github.com/profd/profd"))

(defgroup profd-hints nil
  "Costs at the end of lines."
  :group 'profd
  :prefix "profd-")

(defgroup profd-flame nil
  "Flame graphs as pictures."
  :group 'profd
  :prefix "profd-")

(defcustom profd-command '("profd" "connect")
  "What starts the connection to the daemon: a program and its arguments."
  :type '(repeat string))

(defcustom profd-threshold nil
  "Share of the profile, 0 to 1, below which a line stays silent.
Nil is what the project file .profd.toml says, else 0.005."
  :type '(choice (const :tag "As the project says" nil) number)
  :group 'profd-hints)

(defcustom profd-auto-start t
  "Whether to start by itself where there is a .profd.toml."
  :type 'boolean)

(defcustom profd-rows 100
  "Rows of a list, or of one level of a tree, at most."
  :type 'natnum)

(defface profd-hint '((t :inherit shadow))
  "Costs at the end of lines; heat is added to it."
  :group 'profd-hints)

(defface profd-stale '((t :inherit shadow :slant italic))
  "Costs of lines that changed since the profile was made."
  :group 'profd-hints)

(defface profd-title '((t :inherit bold))
  "What a list is of.")

(defface profd-note '((t :inherit shadow))
  "Remarks above a list.")

(defface profd-number '((t :inherit default))
  "Numbers of lists.")

(defface profd-name '((t :inherit font-lock-function-name-face))
  "Names of functions in lists.")

(defface profd-place '((t :inherit shadow))
  "Places in files, in lists.")

(defconst profd-protocol-version 1
  "Version of the daemon's own methods that this package speaks.")

;;;; Texts

;; Names of a profile are anybody's bytes.  They are shown, never read.

(defun profd-clean (text)
  "TEXT as one line without properties and without control characters."
  (let ((plain (if (stringp text) (substring-no-properties text) (format "%s" (or text "")))))
    (if (string-match-p "[[:cntrl:]\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]" plain)
        (replace-regexp-in-string
         "[[:cntrl:]\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]" " " plain t t)
      plain)))

(defun profd-mode-line-text (text)
  "TEXT so that a mode line shows it as it is."
  (replace-regexp-in-string "%" "%%" (profd-clean text) t t))

(defun profd-help-text (text)
  "TEXT so that a tooltip shows it as it is."
  (replace-regexp-in-string "[][\\`'{}<>=]" "\\\\=\\&" (profd-clean text) t))

(defun profd-quote (name)
  "NAME as views and filters have it, in quotes."
  (concat "\""
          (mapconcat (lambda (char)
                       (cond ((memq char '(?\" ?\\)) (string ?\\ char))
                             ((or (< char 32) (= char 127)) (format "\\x%02x" char))
                             (t (string char))))
                     name "")
          "\""))

(defun profd-fit (text width)
  "TEXT in at most WIDTH columns; what is left out is its middle."
  (if (<= (string-width text) width)
      text
    (let* ((room (max 1 (1- width)))
           (end (/ room 2)))
      (concat (truncate-string-to-width text (- room end)) "…"
              (substring text (max 0 (- (length text) end)))))))

;;;; Messages

(defconst profd--log-limit 500)
(defvar profd--log nil "What was said, newest first.")

(defun profd-log-add (text)
  "Remember TEXT."
  (push (concat (format-time-string "%H:%M:%S ") (profd-clean text)) profd--log)
  (when (> (length profd--log) profd--log-limit)
    (setcdr (nthcdr (1- profd--log-limit) profd--log) nil)))

(defun profd-say (text)
  "Show TEXT as a message, whatever is in it."
  (profd-log-add text)
  (message "profd: %s" (profd-clean text)))

(defun profd-warn (text)
  "Show TEXT as a message about something that needs attention."
  (profd-log-add text)
  (message "%s" (propertize (concat "profd: " (profd-clean text)) 'face 'warning)))

(defun profd-log ()
  "Show what profd said in this session."
  (interactive)
  (let ((buffer (get-buffer-create "*profd log*")))
    (with-current-buffer buffer
      (special-mode)
      (setq buffer-undo-list t)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (if profd--log
                    (concat (mapconcat #'identity (reverse profd--log) "\n") "\n")
                  "(nothing yet)\n"))))
    (pop-to-buffer buffer)))

;;;; Files

(defun profd-uri (file)
  "The URI of FILE."
  (concat "file://"
          (url-hexify-string (encode-coding-string (expand-file-name file) 'utf-8)
                             (url--allowed-chars (append '(?/ ?:) url-unreserved-chars)))))

(defun profd-file (uri)
  "The file that URI names, or nil."
  (when (and (stringp uri) (string-prefix-p "file://" uri))
    (let ((name (decode-coding-string (url-unhex-string (substring uri 7) t) 'utf-8)))
      ;; What looks like a file of another machine is none of ours.
      (and (string-prefix-p "/" name)
           (not (file-remote-p name))
           (not (string-search "\0" name))
           name))))

(defun profd-uri-of (name)
  "NAME as a URI: it is one already, or the name of a file."
  (if (string-match-p "\\`[[:alpha:]][[:alnum:]+.-]+:" name)
      name
    (profd-uri name)))

(defun profd-source-p (&optional buffer)
  "Whether BUFFER, or the current one, visits a file of this machine."
  (let ((file (buffer-local-value 'buffer-file-name (or buffer (current-buffer)))))
    (and file (not (file-remote-p file)))))

(defun profd-root ()
  "The folder of the project that is worked on."
  (let ((marker (locate-dominating-file default-directory ".profd.toml")))
    (file-truename
     (or marker
         (when-let ((project (project-current nil)))
           (if (fboundp 'project-root)
               (project-root project)
             (car (with-no-warnings (project-roots project)))))
         default-directory))))

(declare-function project-root "project" (project))

(defun profd-list (sequence)
  "The elements of SEQUENCE, a vector of an answer, as a list."
  (append sequence nil))

(provide 'profd-base)
;;; profd-base.el ends here
