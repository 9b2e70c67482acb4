import ProfileEvents
import Profiling
import RunResults
import ScenarioLanguage
package import WorkbenchText

/// The block of a `repeat`: the number of repetitions, and the lines.
struct RepeatBlock {
  /// A line, which can be another block.
  final class Line {
    let text: String
    /// The block, or `nil` if the line is another one or is invalid.
    private(set) lazy var block: RepeatBlock? = RepeatBlock.nested(in: text)

    fileprivate init(_ text: String) {
      self.text = text
    }
  }

  let count: Int
  let lines: [Line]

  /// Creates a block from a line, or from several with line feeds.
  ///
  /// - Returns: `nil` if the closing brace is missing.
  /// - Throws: A problem if the number or the opening brace is missing, or at text after the block.
  init?(_ text: String, at start: SourceRange) throws(LanguageProblem) {
    let characters = Array(text)
    var position = characters.firstIndex { !$0.isWhitespace } ?? 0
    position += ShellCommand.repetition.rawValue.count
    while position < characters.count, characters[position].isWhitespace { position += 1 }
    let digits = characters[position...].prefix { !$0.isWhitespace && $0 != "{" }
    let range = start.part(at: position, length: digits.count)
    guard let count = Int(String(digits)), (1...InputLimits.repeats).contains(count) else {
      throw LanguageProblem(
        "`repeat` needs a number from 1 to \(NumberText.grouped(InputLimits.repeats))", at: range,
        nextStep: "write, for example, `repeat 12 { touch moods date }`")
    }
    position += digits.count
    while position < characters.count, characters[position].isWhitespace { position += 1 }
    guard position < characters.count, characters[position] == "{" else {
      throw LanguageProblem(
        "expected `{` after the number", at: start.part(at: position),
        nextStep: "write `\(ShellCommand.repetition.usage)`")
    }
    guard let lines = RepeatBlock.lines(characters, &position) else { return nil }
    let after = characters[position...].firstIndex { !$0.isWhitespace && $0 != ";" }
    if let after, characters[after] != "#" {
      throw LanguageProblem(
        "unexpected text after the block", at: start.part(at: after),
        nextStep: "put it on the next line")
    }
    self.count = count
    self.lines = lines.filter { line in line.contains { !$0.isWhitespace } }.map(Line.init)
  }

  /// Returns the block in a line of a block, or `nil` if the line is another one or is invalid.
  private static func nested(in line: String) -> RepeatBlock? {
    guard beginsBlock(line) else { return nil }
    return try? RepeatBlock(line, at: SourceRange(line: 1, column: 1))
  }

  /// Returns the number of lines in the block and in those in it, and of their repetitions.
  ///
  /// - Throws: A `CommandFailure` if the blocks are nested too deeply.
  func lineCounts(depth: Int = 1) throws -> (written: Int, run: Int) {
    guard depth <= InputLimits.scenarioDepth else {
      throw CommandFailure(
        "blocks are nested too deeply; the limit is \(InputLimits.scenarioDepth) levels",
        nextStep: "write the lines in fewer blocks")
    }
    // An empty block is repeated, too.
    var (written, once) = lines.isEmpty ? (1, 1) : (0, 0)
    for line in lines {
      let inner = try line.block?.lineCounts(depth: depth + 1)
      written += inner?.written ?? 1
      once += inner?.run ?? 1
    }
    // Far beyond the limit, and far below what can overflow.
    return (written, min(once * count, 1 << 32))
  }

  /// Returns whether a line's first word is `repeat`.
  static func beginsBlock(_ line: String) -> Bool {
    let first = line.split { $0.isWhitespace || $0 == "{" }.first
    return first.map(String.init) == ShellCommand.repetition.rawValue
  }

  /// Returns the lines between braces, or `nil` if the closing brace is missing.
  ///
  /// As in a line, a backslash in a quoted word escapes the next quotation mark, and a `#` at the
  /// start of a word begins a comment, which ends with the line. `.sqlite` has neither.
  ///
  /// - Parameter position: The position of the opening brace, which is set to the end of the block.
  private static func lines(_ characters: [Character], _ position: inout Int) -> [String]? {
    var lines = [""]
    var depth = 0
    var quote: Character?
    while position < characters.count {
      let character = characters[position]
      position += 1
      if let open = quote {
        if character == "\\", position < characters.count,
          "\\\"'".contains(characters[position]), !isQuery(lines[lines.count - 1])
        {
          lines[lines.count - 1].append(character)
          lines[lines.count - 1].append(characters[position])
          position += 1
          continue
        }
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "#", beginsWord(characters, at: position - 1),
        !isQuery(lines[lines.count - 1])
      {
        while position < characters.count, !characters[position].isNewline { position += 1 }
        continue
      } else if character == "{" {
        depth += 1
        if depth == 1 { continue }
      } else if character == "}" {
        depth -= 1
        if depth == 0 { return lines }
      } else if depth == 1, character == ";" || character.isNewline {
        lines.append("")
        continue
      }
      lines[lines.count - 1].append(character)
    }
    return nil
  }

  private static func isQuery(_ line: String) -> Bool {
    line.drop(while: \.isWhitespace).hasPrefix(ShellCommand.sqlite.rawValue)
  }

  private static func beginsWord(_ characters: [Character], at position: Int) -> Bool {
    position == 0 || characters[position - 1].isWhitespace
      || "{};,[]".contains(characters[position - 1])
  }
}

extension ShellEngine {
  /// Runs the `repeat` that a line completes, or keeps the line of one that isn't complete.
  ///
  /// - Returns: `nil` for a line that isn't part of a `repeat`.
  func block(with line: String, at callSite: CallSite) throws -> ShellAnswer? {
    var text = line
    var start = callSite
    if let open = openBlock {
      text = "\(open.text)\n\(line)"
      start = open.callSite
    } else {
      guard RepeatBlock.beginsBlock(line) else { return nil }
    }
    openBlock = nil
    // Errors are in the last line: the block wasn't complete before it.
    let column = 1 - (text.count - line.count)
    guard let block = try RepeatBlock(text, at: SourceRange(line: callSite.line, column: column))
    else {
      guard text.count <= InputLimits.blockLength else {
        let limit = NumberText.grouped(InputLimits.blockLength)
        throw CommandFailure(
          "the block of `repeat` is too long; the limit is \(limit) characters",
          nextStep: "close it with `}`")
      }
      openBlock = (text, start)
      return ShellAnswer()
    }
    try checkRepetitions(of: block)
    return run(block, at: start)
  }

  /// Throws a `CommandFailure` if the lines of a block, and of those around it that run it with
  /// `time` or `source`, are repeated too often.
  private func checkRepetitions(of block: RepeatBlock) throws {
    let counts = try block.lineCounts()
    let added = repetitions * counts.run - counts.written
    guard added > InputLimits.repeatedSteps else { return }
    throw CommandFailure(
      "the block adds \(NumberText.grouped(added)) steps, and the limit is "
        + NumberText.grouped(InputLimits.repeatedSteps),
      nextStep: "repeat the lines less often, or change more objects in one step")
  }

  /// Discards a `repeat` that isn't complete.
  package func discardBlock() {
    openBlock = nil
  }

  /// Reports a `repeat` that isn't complete at the end of the input, and discards it.
  package func endOfLines() -> CommandFailure? {
    guard let open = openBlock else { return nil }
    openBlock = nil
    return CommandFailure(
      "the block of `repeat` in line \(open.callSite.line) isn't closed",
      nextStep: "close it with `}`"
    )
  }

  private func run(_ block: RepeatBlock, at callSite: CallSite) -> ShellAnswer {
    var steps: [[Int]: RepeatedStep] = [:]
    let answer = run(block, at: callSite, in: [], adding: &steps)
    let sorted = steps.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    return answer.adding(sorted.map(\.value), in: mode)
  }

  /// Runs a block without the lines of its steps, whose costs are added by position.
  ///
  /// - Parameter position: The positions of the block and of those around it in their blocks; empty
  ///   for the outermost.
  private func run(
    _ block: RepeatBlock, at callSite: CallSite, in position: [Int],
    adding steps: inout [[Int]: RepeatedStep]
  ) -> ShellAnswer {
    var answer = ShellAnswer()
    repetitions *= block.count
    defer { repetitions /= block.count }
    all: for number in 1...block.count {
      for (index, line) in block.lines.enumerated() {
        let (run, count) = (current.number, current.results.count)
        let path = position + [index]
        let result: ShellAnswer
        let nested = line.block
        if let interrupted = isInterrupted {
          result = interrupted
        } else if let nested {
          result = self.run(nested, at: callSite, in: path, adding: &steps)
        } else {
          result = plainAnswer(to: line.text, at: callSite)
        }
        if nested == nil, current.number == run, current.results.count == count + 1,
          let step = current.results.last
        {
          steps[path, default: RepeatedStep(step.text)].add(step.costs, result.lines)
        } else if number == block.count || result.failure != nil {
          answer.lines += result.lines
        }
        if let failure = result.failure {
          answer.failure = failure.at("repetition \(number) of \(block.count)")
          break all
        }
        if result.ends {
          answer.ends = true
          break all
        }
      }
    }
    return answer
  }

  /// The answer to a line that doesn't run because of Ctrl-C, or `nil`.
  private var isInterrupted: ShellAnswer? {
    do {
      try interruption.check()
      return nil
    } catch {
      return ShellAnswer(failure: CommandFailure("`repeat` was interrupted"))
    }
  }
}

/// The cost of a step that a block repeated.
private struct RepeatedStep {
  let text: String
  var times = 0
  var costs = TimedCosts()
  var fastest = UInt64.max
  /// The lines after the cost of the last repetition, which are findings.
  var findings: [String] = []

  init(_ text: String) {
    self.text = text
  }

  /// Adds a repetition, of which the first line is the cost.
  mutating func add(_ costs: TimedCosts, _ lines: [String]) {
    times += 1
    self.costs.counters = self.costs.counters + costs.counters
    self.costs.nanoseconds += costs.nanoseconds
    fastest = min(fastest, costs.nanoseconds)
    findings = lines.dropFirst().filter { $0.hasPrefix("  !") }
  }

  /// The line of the `table` mode.
  var line: String {
    costs.line(after: "\(NumberText.grouped(times)) x \(text)")
      + "   fastest \(NumberText.time(fastest))"
  }

  /// The row of the other modes.
  var row: [ShellTable.Cell] {
    let counts = RepeatedStep.metrics.map { ShellTable.Cell.number(costs.counters[$0] ?? 0) }
    return [.text(text), .number(times)] + counts + [.time(costs.nanoseconds), .time(fastest)]
  }

  static let columns = ["step", "times"] + metrics.map(\.rawValue) + ["nanoseconds", "fastest"]

  private static let metrics: [Metric] = [.selects, .rows, .faults, .hits, .misses, .saves]
}

extension ShellAnswer {
  /// Returns the answer with the costs of repeated steps before its lines.
  fileprivate func adding(_ steps: [RepeatedStep], in mode: ShellMode) -> ShellAnswer {
    guard !steps.isEmpty else { return self }
    var answer = self
    if mode == .table {
      answer.lines = steps.flatMap { [$0.line] + $0.findings } + lines
    } else {
      answer.lines = ShellTable(RepeatedStep.columns, steps.map(\.row)).lines(mode) + lines
    }
    return answer
  }
}
