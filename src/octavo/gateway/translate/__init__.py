"""Any model behind any interface: requests and answers, translated between the providers' formats."""
