import WorkbenchCommands

Program.start()
