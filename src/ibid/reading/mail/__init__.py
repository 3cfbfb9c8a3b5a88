"""Mail: single messages, mailboxes, and Outlook's files."""
