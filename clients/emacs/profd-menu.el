;;; profd-menu.el --- All commands of profd in a menu  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; What `?' shows in the lists, and \\[profd-menu] anywhere.

;;; Code:

(require 'transient)
(require 'profd)

;;;###autoload (autoload 'profd-menu "profd-menu" nil t)
(transient-define-prefix profd-menu ()
  "What profd can tell."
  [["What is hot"
    ("h" "hottest functions" profd-hotspots)
    ("t" "tree of calls" profd-tree)
    ("F" "flame graph" profd-flame)
    ("B" "in the browser" profd-browse)
    ("r" "report" profd-report)
    ("T" "timeline" profd-timeline)
    ("K" "kinds of work" profd-sets)
    ("A" "a script" profd-analyse)
    ("S" "first glance" profd-summary)]
   ["This line"
    ("e" "all of the line" profd-hover)
    ("c" "who calls it" profd-callers)
    ("w" "where within it" profd-within)
    ("a" "its instructions" profd-assembly)
    ("." "what is chosen elsewhere" profd-selection)
    ("v" "hints on or off" profd-annotate-toggle)]
   ["Profile"
    ("o" "open" profd-open)
    ("s" "show another" profd-select)
    ("R" "record" profd-record)
    ("G" "record again" profd-record-again)
    ("D" "what changed since" profd-changes)
    ("l" "recordings" profd-recordings)
    ("d" "compare two" profd-diff)
    ("x" "run and see" profd-compile)
    ("g" "read anew" profd-reload)
    ("k" "close" profd-close)]
   ["What of it"
    ("m" "metric" profd-metric)
    ("f" "filter" profd-filter)
    ("i" "my code only" profd-mine)
    ("u" "undo filter" profd-undo)
    ("U" "redo filter" profd-redo)
    ("L" "what was said" profd-log)
    ("H" "the manual" profd-help)]])

(provide 'profd-menu)
;;; profd-menu.el ends here
