'''The tables and figures of the papers, beside our numbers.

`python -m reproduction NAME` runs a study, in the folder that holds this package; `--list` shows
all. It is written on the public interface of `indefinite_opt` alone. Each paper has two files of
one name: PAPER.toml says what the paper shows, with its numbers, and what we remark on them;
PAPER.py computes ours. The name of a study is that of the paper and of its item, such as
loosli-table-2.

The text of a paper
-------------------
Each item has its `place` in the paper, a `title`, the measured `minutes` and `quick_minutes` of the
full and the quick run by two processes, the `data` sets it needs, and `long`, the experiments that
take hours and are run only by request. In a text, a line that is indented continues the one above,
and `{name}` stands for one of the `sentences` at the head of the file, which several items share.

`numbers` are written as the paper prints them, with their standard deviations, `-` where there is
none, and two spaces or more between entries. A number counts as reproduced within two of the
paper's standard deviations. Where none is printed, 1.5 percentage points stand for one; for other
quantities an `Entry` says what does, in their own units (`unit`) or as a share of the published
number (`relative`); times are not `counted`.

Notes say what differs from the paper, on a row, on "*, column" or on
"row, column", each with its reason; rows and columns that share a reason are separated by /.

- `missing`: the data are lost, so that there is no number of ours;
- `stand_ins`: other data take their place; shown, but not counted;
- `impossible`: the paper's number cannot be right;
- `uncounted`: the number is shown, but proves nothing: something was chosen by it, or it is another
  one again;
- `deviations`: why our number differs, shown only where it does. Such a reason belongs to one
  number, so that it has a row and a column, and it says by which experiment it was found.

What holds for the whole item, such as a grid that the paper does not state, is in `choices`. Data
that cannot be loaded on this machine are not mentioned in the text: their rows say so.

The code of a paper
-------------------
`STUDIES` has a `Code` for each item. Its function `experiments(quick)` returns what is run, by
name: a `Study`, whose cells are tested classifiers, or a `Computation` for everything else, such as
eigenvalues and the series of a figure. Both are those of `indefinite_opt.studies`, so that every
cell is stored as soon as it is finished, and resumed. With `quick` it is the same on less: few data
sets, one repetition, a coarser grid. All quick runs together take minutes, and the tests run them.

The function `entry(row, column)` says where our number comes from. Without it a row is a data set
and a column a method of the first experiment. Here the accuracies are percentages:

>>> from indefinite_opt.studies import Grid, Nested, RepeatedKFold, Study
>>> from reproduction.comparison import reproduce
>>> from reproduction.declaration import Code, Entry, declared
>>> def experiments(quick):
...     data = {"heart": "checkerboard(n=40, cells=2)", "sonar": "checkerboard(n=60, cells=2)"}
...     methods = {"SVM": Grid("SVMDual", C=[1, 10]), "5-NN": "KNN(k=5)"}
...     protocol = Nested(RepeatedKFold(3, repeats=1 if quick else 10), inner=3)
...     return {"main": Study(data=data, methods=methods, protocol=protocol)}
>>> text = """
... paper = "Somebody (2000)"
...
... [table-1]
... place = "page 7"
... title = "Two methods on two sets"
... minutes = 1
... quick_minutes = 0.1
... data = ["heart", "sonar"]
... choices = "The paper does not say which C were tried."
... numbers = \'\'\'
...        SVM         5-NN
... heart  82.7 (1.4)  81.2
... sonar  74.1 (2.0)  -
... \'\'\'
... stand_ins = "sonar: The echoes are lost; a checkerboard takes their place."
... """
>>> code = Code(experiments, lambda row, column: Entry(factor=100))
>>> study = declared(text, {"table-1": code})["table-1"]
>>> study.numbers.facts["heart", "SVM"]
Fact(value=82.7, spread=1.4, decimals=1)
>>> reproduction = reproduce("somebody-table-1", study, quick=True)
>>> reproduction.tally.published, reproduction.tally.at_hand
(3, 2)

A figure has a function `draw` in place of `numbers`, or beside them for numbers in its caption or
text. It is called with the outcomes by the names of the experiments, and returns a matplotlib
figure in the layout of the paper's; it computes nothing that takes time. The text has `statements`,
what the paper says of the figure, each with a name in front; the function `checks`, called as
`draw` is, returns a `Check` for each name: whether it holds, and our numbers.
'''
