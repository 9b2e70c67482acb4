import OpenCoreData
import ProfileEvents
import Profiling
import WorkbenchText

extension ShellEngine {
  /// The call stacks of a group's events, or of the whole try.
  func stack(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    var recording = session.recording
    if let word = arguments.words.first {
      let event = try group(word).firstEvent
      recording = recording.slice(after: event - 1, through: event)
    }
    let stacks = recording.stackShapes()
    guard !stacks.isEmpty else {
      throw CommandFailure(
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
    let unnamed = Set(stacks.flatMap(\.frames).filter(StackText.isUnnamed)).count
    let note =
      unnamed == 0
      ? []
      : [
        "  \(NumberText.counted(unnamed, "function")) without a symbol: the program or a library "
          + "was stripped; build it without `-Xlinker -s` and don't `strip` it"
      ]
    return ShellAnswer(lines + note, table: table)
  }
}
