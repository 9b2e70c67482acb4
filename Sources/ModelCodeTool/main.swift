import Foundation

// The build plugin runs `ModelCodeTool MODEL FILE` to generate the classes of a model in one file.
exit(ModelCodeTool.run(Array(CommandLine.arguments.dropFirst())))
