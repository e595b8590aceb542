// htmx would write its style of indicators into the page, where no page may have styles: theme.css has it.
htmx.config.includeIndicatorStyles = false;
