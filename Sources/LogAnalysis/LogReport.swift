/// What a log says: every line of it counted, its statements by shape, its storms and sections.
package struct LogReport: Sendable {
  /// The file as it was given; `-` for standard input.
  package var file: String
  /// Lines of the file.
  package var lines = 0
  /// Where its lines were broken, and put together again; nil where they were not.
  package var wrap: LogWrap?
  /// Lines by kind; with `unrecognised` they are all lines.
  package var kinds: [LogKind: Int] = [:]
  /// Lines of Core Data's by what stands behind `CoreData:`, understood or not; without the lines
  /// that continue them.
  package var classes: [LogClass: Int] = [:]
  /// Lines of Core Data's that are not understood.
  package var unrecognised = 0
  /// The first of them, by their text.
  package var unrecognisedLines: [LogSample] = []
  /// Errors, warnings and faults by their text, the first hundred.
  package var complaints: [LogSample] = []
  /// The time in front of the first and the last line that has one; empty without.
  package var firstTime = ""
  package var lastTime = ""
  /// Files of stores that were opened.
  package var stores: [String] = []
  /// In the order of first appearance.
  package var statements: [LogStatement] = []
  /// Times that belong to no statement of the log: its beginning is cut off.
  package var unmatchedTimes = 0
  package var costs = LogCosts()
  /// The largest first.
  package var storms: [LogStorm] = []
  package var sections: [LogSection] = []
  /// Whether the log has lines for faults that the row cache filled; Apple's has none.
  package var tellsHits = false
  /// What saves took, where the log says so; Apple's does not.
  package var saveTimes = LogTimes()

  package init(file: String) {
    self.file = file
  }

  /// Times of all statements, nothing counted twice, in microseconds.
  package var microseconds: Int { statements.reduce(0) { $0 + $1.own } }

  /// Whether anything in it is Core Data's, a plan, or a section that a program marked.
  package var isLog: Bool {
    !classes.isEmpty || !sections.isEmpty || kinds[.plan, default: 0] > 0
  }

  /// Lines that are Core Data's, the unrecognised among them.
  package var coreDataLines: Int {
    let others: [LogKind] = [.app, .blank, .metadata, .section]
    return lines - others.reduce(0) { $0 + kinds[$1, default: 0] }
  }
}
