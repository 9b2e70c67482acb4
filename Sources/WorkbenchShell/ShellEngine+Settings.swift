import OpenCoreData
import ProfileEvents
import Profiling
import WorkbenchText

extension ShellEngine {
  /// Sets or tells how much SQL is logged.
  func setSQLLevel(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let level = try ShellArguments.number(
        word, in: 0...4, of: "levels", nextStep: "write for example `sql 1`, or `sql 0` for silence"
      )
      if let sqlLog { for desk in desks { desk.session.remove(sqlLog.sink) } }
      sqlLog = nil
      if level > 0 {
        let sink = SQLDebugLog(level: level, showsBinds: showsBinds, write: log)
        sqlLog = (level, sink)
        for desk in desks { desk.session.add(sink) }
      }
    }
    let level = sqlLog?.level ?? 0
    return ShellAnswer(
      "  SQL log: level \(level)" + (level == 0 ? ", nothing" : ", on standard error")
        + (level >= 2 && !showsBinds ? ", bound values kept back (start with --show-binds)" : ""))
  }

  /// Sets or tells what events keep beside the counts.
  func setRecording(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let wanted = try ShellArguments.choice(word, of: ["stacks", "off"], command: .record)
      if let stackRequest { for desk in desks { desk.session.remove(stackRequest) } }
      stackRequest = nil
      if wanted == "stacks" {
        let request = StackRequest()
        stackRequest = request
        for desk in desks { desk.session.add(request) }
      }
    }
    return ShellAnswer(
      stackRequest == nil
        ? "  recorded: every event, without call stacks; `record stacks` adds them"
        : "  recorded: every event with its call stack; times are longer for it")
  }

  /// Sets or tells how rows are printed.
  func setMode(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let chosen = try ShellArguments.choice(
        word, of: ShellMode.allCases.map(\.rawValue), command: .mode)
      mode = ShellMode(rawValue: chosen) ?? mode
    }
    return ShellAnswer("  mode: \(mode.rawValue)")
  }

  /// Sets or tells whether long answers stop at the end of the screen.
  func setPager(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      pages = try ShellArguments.choice(word, of: ["on", "off"], command: .pager) == "on"
    }
    return ShellAnswer("  pager: \(pages ? "on" : "off")")
  }

  /// Sends answers to a file, or back to the terminal.
  func setOutput(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let word = arguments.words.first else {
      return ShellAnswer("  results go to \(output?.path ?? "standard output")")
    }
    if word.text == "off", !word.isQuoted {
      output = nil
      return ShellAnswer("  results go to standard output")
    }
    var force = false
    if let last = arguments.words.dropFirst().first {
      force = try ShellArguments.choice(last, of: ["force"], command: .output) == "force"
    }
    let path = URL(fileURLWithPath: word.text).standardizedFileURL.path
    output = try ShellOutput(path: word.text, force: force || written.contains(path))
    written.insert(path)
    return ShellAnswer("  results are added to \(word.text) until `output off`")
  }
}
