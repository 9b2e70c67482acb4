import Profiling

/// One thing that is open in the shell, under a name: what it is, its session, and what was tried on it.
final class ShellDesk {
  let name: String
  let workspace: ShellWorkspace
  var session: Session
  /// The tries that are over; each ran at least one step.
  var tries: [ShellTry] = []
  var current = ShellTry(number: 1)

  init(name: String, workspace: ShellWorkspace, session: Session) {
    self.name = name
    self.workspace = workspace
    self.session = session
  }

  /// `Moody.moody · Continent 2, Mood 4 · only looked at, no byte changes`.
  var line: String {
    "\(workspace.title) · \(workspace.contents) · \(workspace.state)"
  }
}
