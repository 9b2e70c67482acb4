/// What is undone at once.
final class UndoGroup {
  /// One registration, or a group inside.
  enum Step {
    case action(UndoAction)
    case group(UndoGroup)
  }

  var steps: [Step] = []
  var name: String

  init(name: String = "") {
    self.name = name
  }

  /// Does what was registered, the last first.
  func run() {
    for step in steps.reversed() {
      switch step {
      case .action(let action): action.run()
      case .group(let group): group.run()
      }
    }
  }

  /// Forgets what was registered for a target.
  func remove(_ target: ObjectIdentifier) {
    steps.removeAll { step in
      switch step {
      case .action(let action): return action.target == target
      case .group(let group):
        group.remove(target)
        return group.steps.isEmpty
      }
    }
  }
}

/// One registration.
struct UndoAction {
  let target: ObjectIdentifier
  let run: () -> Void

  init(target: AnyObject, run: @escaping () -> Void) {
    self.target = ObjectIdentifier(target)
    self.run = run
  }
}
