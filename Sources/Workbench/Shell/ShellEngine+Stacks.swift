import OpenCoreData
import ProfileEvents

extension ShellEngine {
  /// The call stacks of a group's events, or of the whole try.
  func stack(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    var recording = session.recording
    if let word = arguments.words.first {
      let groups = current.groups
      guard let last = groups.last else {
        throw ShellFailure("nothing has run in this try", nextStep: "run a step, then `last`")
      }
      let number = try ShellArguments.number(
        word, in: 1...last.number, of: "numbers of this try",
        nextStep: "`last` shows those of the last step")
      let event = groups[number - 1].firstEvent
      recording = recording.slice(after: event - 1, through: event)
    }
    let stacks = recording.stackShapes()
    guard !stacks.isEmpty else {
      throw ShellFailure(
        "no call stacks were recorded", nextStep: "`record stacks`, then run the steps again")
    }
    let table = ShellTable(
      ["count", "kind", "subject", "frame", "function"],
      stacks.flatMap { stack in
        stack.frames.enumerated().map { index, frame in
          [
            .number(stack.count), .text(stack.kind.rawValue), .text(stack.subject),
            .number(index), .text(frame),
          ]
        }
      })
    let lines = stacks.flatMap { stack in
      ["  \(NumberText.grouped(stack.count)) x \(stack.kind.groupWord ?? "") \(stack.subject)"]
        + stack.frames.map { "      \($0)" }
    }
    return ShellAnswer(lines, table: table)
  }
}
