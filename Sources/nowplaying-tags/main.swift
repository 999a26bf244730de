// nowplaying-tags PARENT [charset=NAME]: reads the tags of files for nowplayingd, which starts it. Nobody else has use for it.
run(CommandLine.arguments)
