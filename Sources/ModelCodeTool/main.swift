import Foundation

/// What the build plugin runs: `ModelCodeTool MODEL FILE` writes the classes of a model to one file.
exit(ModelCodeTool.run(Array(CommandLine.arguments.dropFirst())))
