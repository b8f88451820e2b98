"""The git commands that only read, with the flags for which that is true."""

from coder_tui.policy.shell.call import FlagTable, flag_table
from coder_tui.policy.shell.notes import named

_DIFF = (
    "-p -u -s -U? -R -a -b -w -z -B? -C? -D -M? -l= -S= -G= -O< -W -X? --patch --no-patch --unified? --raw "
    "--patch-with-raw --indent-heuristic --no-indent-heuristic --minimal --patience --histogram "
    "--anchored= --diff-algorithm= --stat? --compact-summary --numstat --shortstat --dirstat? --cumulative "
    "--summary --patch-with-stat --name-only --name-status --submodule? --color? --no-color --color-moved? "
    "--no-color-moved --color-moved-ws= --word-diff? --word-diff-regex= --color-words? --no-renames "
    "--rename-empty --check --ws-error-highlight= --full-index --binary --abbrev? --break-rewrites? "
    "--find-renames? --find-copies? --find-copies-harder --irreversible-delete --diff-filter= "
    "--pickaxe-all --pickaxe-regex --relative? --no-relative --text --ignore-cr-at-eol "
    "--ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines "
    "--ignore-matching-lines= -I= --inter-hunk-context= --function-context --exit-code --quiet "
    "--no-ext-diff --no-textconv --ignore-submodules? --src-prefix= --dst-prefix= --no-prefix "
    "--default-prefix --line-prefix= --output-indicator-new= --ext-diff! --textconv! --output! --cc -c "
    "--no-index! --stat-width= --stat-count= --output-indicator-old= --output-indicator-context= "
    "--merge-base --cached --staged --base --ours --theirs -0 -1 -2 -3"
)
_LOG = (
    "-n= -q -L= -i -E -F -P -g -m -t -h -v --follow --no-decorate --decorate? --decorate-refs= "
    "--decorate-refs-exclude= --source --mailmap --use-mailmap --log-size --max-count= --skip= --since= "
    "--after= --until= --before= --author= --committer= --grep= --all-match --invert-grep "
    "--regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp --remove-empty "
    "--merges --no-merges --min-parents= --max-parents= --no-min-parents --no-max-parents --first-parent "
    "--exclude-first-parent-only --not --all --branches? --tags? --remotes? --glob= --exclude= --reflog "
    "--single-worktree --ignore-missing --bisect --cherry-mark --cherry-pick --left-only --right-only "
    "--cherry --walk-reflogs --merge --boundary --simplify-by-decoration --show-pulls --full-history "
    "--dense --sparse --simplify-merges --ancestry-path? --date-order --author-date-order --topo-order "
    "--reverse --no-walk? --do-walk --pretty? --format? --abbrev-commit --no-abbrev-commit --oneline "
    "--encoding= --expand-tabs? --no-expand-tabs --notes? --no-notes --show-notes? --show-signature! "
    "--relative-date --date= --parents --children --left-right --graph --no-graph --show-linear-break? "
    "--diff-merges= --no-diff-merges --remerge-diff --clear-decorations"
)
_STATUS = (
    "-s -b -v -u? -z --short --branch --show-stash --porcelain? --long --verbose --untracked-files? "
    "--ignore-submodules? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames "
    "--no-renames --find-renames? --no-optional-locks"
)
_BLAME = (
    "-b -l -t -s -f -n -p -e -w -c -L= -S< -M? -C? --root --show-stats --progress --no-progress "
    "--score-debug --show-name --show-number --porcelain --line-porcelain --incremental --encoding= "
    "--contents< --date= --abbrev= --show-email --ignore-rev= --ignore-revs-file< --color-lines "
    "--color-by-age --reverse --first-parent --since="
)
_GREP = (
    "-a -I -i -v -w -h -H -E -G -P -F -n -l -L -c -o -q -z -e= -A= -B= -C= -p -W -f< -m= --cached "
    "--exclude-standard --recurse-submodules --text --ignore-case --max-depth= --recursive --no-recursive "
    "--word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp "
    "--fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null "
    "--only-matching --count --color? --no-color --break --heading --show-function --context= "
    "--after-context= --before-context= --function-context --max-count= --threads= --all-match --and --or "
    "--not --quiet -O! --open-files-in-pager! --textconv! --no-textconv"
)
_LISTING = "--column? --no-column --sort= --format= --color? --no-color --points-at= --ignore-case"
_REFS = "--contains? --no-contains? --merged? --no-merged?"

_COUNTING = named(
    "diff log show whatchanged shortlog blame annotate grep rev-list "
    "diff-tree diff-index diff-files range-diff"
)
"""They take `-20` as a count."""
_READING = {
    "status": _STATUS,
    "diff": _DIFF,
    "log": f"{_LOG} {_DIFF}",
    "show": f"{_LOG} {_DIFF}",
    "whatchanged": f"{_LOG} {_DIFF}",
    "shortlog": f"-s -e -w? --summary --numbered --email --group= -c {_LOG}",
    "blame": _BLAME,
    "annotate": _BLAME,
    "grep": _GREP,
    "rev-list": f"--count --objects --header --timestamp --disk-usage? --no-object-names {_LOG}",
    "rev-parse": (
        "-q --abbrev-ref? --short? --symbolic-full-name --symbolic --verify --quiet --show-toplevel "
        "--git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir "
        "--is-bare-repository --is-shallow-repository --show-prefix --show-cdup "
        "--show-superproject-working-tree --all --branches? --tags? --remotes? --show-object-format? "
        "--path-format= --git-path= --local-env-vars --revs-only --no-revs --flags --no-flags "
        "--default= --disambiguate= --shared-index-path --since= --until="
    ),
    "ls-files": (
        "-c -d -o -i -s -u -k -m -t -v -f -z -x= --cached --deleted --others --ignored --stage "
        "--unmerged --killed --modified --exclude= --exclude-standard --error-unmatch --with-tree= "
        "--full-name --directory --no-empty-directory --eol --deduplicate --format= --abbrev? "
        "--recurse-submodules --debug"
    ),
    "ls-tree": (
        "-d -r -t -l -z --long --name-only --name-status --full-name --full-tree --abbrev? --format= "
        "--object-only"
    ),
    "describe": (
        "--all --tags --contains --always --dirty? --broken? --abbrev= --long --match= --exclude= "
        "--first-parent --exact-match --candidates= --debug"
    ),
    "merge-base": "-a --all --octopus --independent --is-ancestor --fork-point",
    "name-rev": "--tags --refs= --exclude= --all --name-only --no-undefined --always",
    "cat-file": "-t -s -e -p",
    "show-ref": "--head --heads --branches --tags -d --dereference -s --hash? --verify -q --quiet --abbrev?",
    "for-each-ref": f"--count= {_LISTING} {_REFS} --exclude= --omit-empty --shell --perl --python --tcl",
    "count-objects": "-v -H --verbose --human-readable",
    "check-ignore": "-v -q -n -z --verbose --quiet --non-matching --no-index",
    "check-attr": "-a --all --cached -z",
    "diff-tree": f"-r -t --root --stdin --no-commit-id -v {_DIFF}",
    "diff-index": f"-m {_DIFF}",
    "diff-files": _DIFF,
    "cherry": "-v --abbrev?",
    "version": "--build-options",
    "var": "",
    "range-diff": f"--creation-factor= --left-only --right-only --no-dual-color {_DIFF}",
}
READING_COMMANDS: dict[str, FlagTable] = {
    name: flag_table(text, has_numbers=name in _COUNTING) for name, text in _READING.items()
}

LISTING_BRANCHES = flag_table(
    f"-a -r -v -l -i --all --remotes --verbose --list --show-current --abbrev= --no-abbrev {_LISTING} {_REFS}"
)
LISTING_TAGS = flag_table(f"-l -n? -i --list {_LISTING} {_REFS}")
LISTING_STASHES = flag_table(f"-u --include-untracked --only-untracked {_LOG} {_DIFF}", has_numbers=True)
